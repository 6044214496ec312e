# SPDX-License-Identifier: MIT
#
# install.mk - what the Makefile installs, and the source archive

.PHONY: install uninstall dist release

# ---- places ----

ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(call check_places,PREFIX LIBDIR INCLUDEDIR BINDIR LIBEXECDIR DATADIR PYTHONDIR MANDIR)
endif

# A folder as it is seen from another, if both are below PREFIX; else itself.
below = $(filter $(PREFIX)/%,$(1))
up = $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(patsubst $(PREFIX)/%,%,$(1)))))
from = $(if $(and $(call below,$(1)),$(call below,$(2))),$(call up,$(1))/$(patsubst $(PREFIX)/%,%,$(2)),$(2))
to = '$(DESTDIR)$(1)'

PC_DIR := $(LIBDIR)/pkgconfig
CMAKE_DIR := $(LIBDIR)/cmake/lazycuda
BASH_DIR := $(DATADIR)/bash-completion/completions
ZSH_DIR := $(DATADIR)/zsh/site-functions
FISH_DIR := $(DATADIR)/fish/vendor_completions.d
# Where the command finds its parts (tools/beside.h): the programs that `lazycuda stub` runs,
# what it copies,
LIBEXEC_DIR := $(LIBEXECDIR)/lazycuda
SHARE_DIR := $(DATADIR)/lazycuda/stub
EMBED_DIR := $(DATADIR)/lazycuda/embed
# and the Python code of `lazycuda retarget`, which is the module that Python imports.
RETARGET_DIR := $(PYTHONDIR)/lazycuda

# The dynamic loader looks there by itself.
SYSTEM_LIBDIRS := /lib /lib64 /usr/lib /usr/lib64 /lib/%-linux-gnu /usr/lib/%-linux-gnu
RUNPATH ?= $(if $(filter $(SYSTEM_LIBDIRS),$(LIBDIR)),no,yes)
$(call yes_or_no,RUNPATH)

# ---- what depends on where it is to lie ----

PLACED := $(BUILD)/placed
$(PLACED)/flags: FORCE
	$(call remember,$(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(BINDIR) $(LIBEXECDIR) $(DATADIR) $(PYTHONDIR) $(RUNPATH) \
		$(CUDA_ABI) $(SOVERSION))

# What is in $(BUILD) itself is run from there; this is linked for its place.
BIN_TO_LIB := $(patsubst ..%,$$ORIGIN/..%,$(call from,$(BINDIR),$(LIBDIR)))
$(eval $(call link_library,$(PLACED)/lib/$(notdir $(LINK_LIBRARY)),$\
	$(if $(filter yes,$(RUNPATH)),$$ORIGIN),$(PLACED)/flags,$\
	$(LINK_OBJECTS:%/link/run/child.o=%/placed/child.o)))
# The one that knows where the command is to lie, seen from the library.
$(BUILD)/obj/placed/child.o: link/run/child.c $(PLACED)/flags $(BUILD)/flags
	$(call compile,$(CFLAGS) -DLK_COMMAND='"$(call from,$(LIBDIR),$(BINDIR))/lazycuda"')
$(eval $(call tool,$(PLACED)/bin/lazycuda,$\
	$(if $(filter yes,$(RUNPATH)),$(BIN_TO_LIB)),$\
	$(TOOL_OBJECTS:%/tools/beside.o=%/placed/beside.o) $(PLACED)/flags))
# The one that knows where the tool's parts are to lie.
$(BUILD)/obj/placed/beside.o: tools/beside.c $(PLACED)/flags $(BUILD)/flags
	$(call compile,$(CFLAGS) -DLIBEXEC='"$(call from,$(BINDIR),$(LIBEXECDIR))"' \
		-DSHARE='"$(call from,$(BINDIR),$(DATADIR))"' -DPYTHON='"$(call from,$(BINDIR),$(PYTHONDIR))"')
# It lies beside the module, which finds the rest by it.
$(PLACED)/places: $(PLACED)/flags
	$(call say,MAKE)
	$(Q)printf '%s\n' 'lib $(call from,$(RETARGET_DIR),$(LIBDIR))' \
		'include $(call from,$(RETARGET_DIR),$(INCLUDEDIR))' \
		'bin $(call from,$(RETARGET_DIR),$(BINDIR))' >$@

PCS := $(PLACED)/lazycuda-link.pc
# A folder in pkg-config's words.
from_pc = $(patsubst ..%,$${pcfiledir}/..%,$(call from,$(PC_DIR),$(1)))
PC_SED := sed -e 's|@PREFIX@|$(patsubst %/,%,$(call from_pc,$(PREFIX)/))|' \
	-e 's|@LIBDIR@|$${pcfiledir}/..|' -e 's|@INCLUDEDIR@|$(call from_pc,$(INCLUDEDIR))|' \
	-e 's|@VERSION@|$(VERSION)|' -e 's|@DEFAULT_MAJOR@|$(or $(CUDA_ABI),NOT_SAID)|'

# $(1): library, $(2): its package, $(3): the major that the package is for, or nothing
define stub_pc
PCS += $(PLACED)/$(2)$(3:%=-%).pc
$(PLACED)/$(2)$(3:%=-%).pc: \
		packaging/pkgconfig/stub$(if $(filter $(DRIVER),$(1)),-plain)$(3:%=-major).pc.in \
		$(PLACED)/flags
	$$(call say,MAKE)
	$$(Q)$$(PC_SED) -e 's|@NAME@|$(2)|' -e 's|@LIBRARY@|$(1)|g' -e 's|@MAJOR@|$(3)|g' $$< >$$@
endef
package = $(subst nvidia-ml,nvml,$(subst nvJitLink,nvjitlink,$(1)))-stub
# $(1): words
stub_pcs = $(foreach l,$(sort $(foreach w,$(1),$(call field,$(w),3))),$\
	$(eval $(call stub_pc,$(l),$(call package,$(l))))) \
	$(foreach w,$(filter-out $(call about,$(1),$(DRIVER)),$(1)),$\
	$(eval $(call stub_pc,$(call field,$(w),3),$(call package,$(call field,$(w),3)),$(call field,$(w),2))))
$(call stub_pcs,$(if $(filter uninstall,$(MAKECMDGOALS)),$(filter import/%,$(WORDS)),$(IMPORT_WORDS)))

PCS += $(foreach f,$(ARCHIVE_FILES),$(PLACED)/cudart_static-stub-$(f:$(BUILD)/lib/cuda%/libcudart_stub.a=%).pc)
$(PLACED)/cudart_static-stub-%.pc: packaging/pkgconfig/stub-static.pc.in $(PLACED)/flags
	$(call say,MAKE)
	$(Q)$(PC_SED) -e 's|@NAME@|cudart_static-stub|' -e 's|@LIBRARY@|cudart|g' -e 's|@MAJOR@|$*|' $< >$@

$(PLACED)/lazycuda-link.pc: packaging/pkgconfig/lazycuda-link.pc.in $(PLACED)/flags
	$(call say,MAKE)
	$(Q)$(PC_SED) $< >$@

CMAKES := $(PLACED)/lazycuda-config.cmake $(PLACED)/lazycuda-config-version.cmake \
	$(PLACED)/nothing.a $(sort $(wildcard packaging/cmake/*.cmake))

$(PLACED)/%.cmake: packaging/cmake/%.cmake.in $(PLACED)/flags
	$(call say,MAKE)
	$(Q)sed -e 's|@INCLUDEDIR@|$(call from,$(LIBDIR),$(INCLUDEDIR))|' \
		-e 's|@VERSION@|$(VERSION)|' -e 's|@SONUMBER@|$(SONUMBER)|' \
		-e 's|@MAJORS@|$(subst $(space), or ,$(MAJORS))|' $< >$@

# An archive with no members: see lazycuda-replacement.cmake.
$(PLACED)/nothing.a: $(PLACED)/flags
	$(Q)printf '!<arch>\n' >$@

# ---- install, uninstall ----

SHARED := $(STUBS) $(PLACED)/lib/$(notdir $(LINK_LIBRARY))
HEADERS := $(sort $(wildcard include/*.h))
PAGES := $(sort $(wildcard docs/*.[1-8])) $(MADE_PAGES)
# $(1): manual page; the folder of its section
section = $(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))
SHARE_DIRS := $(SHARE_DIR) $(SHARE_DIR)/include $(SHARE_DIR)/stubs \
	$(STUB_ROOMS:%=$(SHARE_DIR)/%) $(SHARE_DIR)/stubs/generated
IMPORT_DIRS := $(MAJORS:%=$(LIBDIR)/lazycuda/cuda%)

# Those that bear our name, and those that others use, too.
OWN_DIRS := $(LIBDIR)/lazycuda $(IMPORT_DIRS) $(CMAKE_DIR) $(DATADIR)/lazycuda \
	$(filter $(DATADIR)/lazycuda/%,$(PYTHONDIR)) $(RETARGET_DIR) $(LIBEXEC_DIR) $(SHARE_DIRS) \
	$(sort $(patsubst %/,%,$(dir $(EMBEDDED:%=$(EMBED_DIR)/%))) $(EMBED_DIR)/stubs)
SHARED_DIRS := $(LIBDIR) $(INCLUDEDIR) $(BINDIR) $(PC_DIR) $(BASH_DIR) $(ZSH_DIR) $(FISH_DIR) \
	$(filter-out $(DATADIR)/lazycuda/%,$(PYTHONDIR)) \
	$(sort $(foreach p,$(PAGES),$(call section,$(p))))
compat_dirs = $(1:%=$(LIBDIR)/lazycuda/compat%)

# $(1): command and mode, $(2): files, $(3): the folder they go to
put_into = $(foreach f,$(2),$(call put,$(1),$(f),$(call to,$(3)/$(notdir $(f)))))
# $(1): command and mode, $(2): files below $(BUILD)/lib, which keep their folders
put_below = $(foreach f,$(2),$(call put,$(1),$(f),$(call to,$(f:$(BUILD)/lib/%=$(LIBDIR)/lazycuda/%))))
# $(1): shared library; with a SOVERSION it is called by that, and a link leads there.
put_shared = $(call put,$(INSTALL_PROGRAM),$(1),$(call to,$(LIBDIR)/$(notdir $(1))$(SONUMBER)))\
	$(if $(SONUMBER),$(call put,ln -sf,$(notdir $(1))$(SONUMBER),$(call to,$(LIBDIR)/$(notdir $(1)))))
# In the order of bash, zsh, fish.
COMPLETIONS := $(BASH_DIR)/lazycuda $(ZSH_DIR)/_lazycuda $(FISH_DIR)/lazycuda.fish
put_completion = $(call put,$(INSTALL_DATA),packaging/completions/lazycuda.$(1),$(call to,$(2)))

# $(1): major; the links in it lead to what is installed
toolkit = $(call to,$(LIBDIR)/lazycuda/toolkit$(1))
put_toolkit = $(if $(V),,@printf '  %-8s%s\n' INSTALL $(toolkit) && )$(PYTHON) -I -B $(RETARGET_SHARE) toolkit \
	--cuda $(1) --headers none --stubs $(call to,$(LIBDIR)) $(toolkit) >/dev/null$(newline)

# `lazycuda stub` copies all that is in SHARE_DIR: there may be sources of an older release.
install: all $(ARCHIVE_FILES) $(SHARED) $(PLACED)/bin/lazycuda $(PLACED)/places $(PCS) $(CMAKES)
	$(Q)rm -rf $(call to,$(SHARE_DIR))
	$(foreach d,$(SHARED_DIRS) $(OWN_DIRS) $(call compat_dirs,$(COMPAT_MAJORS)),$\
		$(call folder,$(call to,$(d))))
	$(foreach f,$(SHARED),$(call put_shared,$(f)))
	$(call put_below,$(INSTALL_DATA),$(IMPORTS) $(ARCHIVE_FILES))
	$(call put_below,$(INSTALL_PROGRAM),$(COMPATS))
	$(call put_into,$(INSTALL_DATA),$(HEADERS),$(INCLUDEDIR))
	$(call put_into,$(INSTALL_PROGRAM),$(PLACED)/bin/lazycuda,$(BINDIR))
	$(foreach p,$(PAGES),$(call put_into,$(INSTALL_DATA),$(p),$(call section,$(p))))
	$(call put_into,$(INSTALL_DATA),$(PCS),$(PC_DIR))
	$(call put_into,$(INSTALL_DATA),$(CMAKES),$(CMAKE_DIR))
	$(call put_completion,bash,$(word 1,$(COMPLETIONS)))
	$(call put_completion,zsh,$(word 2,$(COMPLETIONS)))
	$(call put_completion,fish,$(word 3,$(COMPLETIONS)))
	$(call put_into,$(INSTALL_DATA),$(RETARGET) $(PLACED)/places,$(RETARGET_DIR))
	$(call put_into,$(INSTALL_PROGRAM),$(MAKERS),$(LIBEXEC_DIR))
	$(foreach f,$(COPIES),$(call put,$(INSTALL_DATA),$(STUB_SHARE)/$(f),$(call to,$(SHARE_DIR)/$(f))))
	$(foreach m,$(TOOLKIT_MAJORS),$(call put_toolkit,$(m)))
	$(foreach f,$(EMBEDDED),$(call put,$(INSTALL_DATA),$(f),$(call to,$(EMBED_DIR)/$(f))))

# $(1): files, $(2): the folder where they were put
put_from = $(foreach f,$(1),$(2)/$(notdir $(f)))
MAY_BE_SHARED := $(sort $(SHARED) $(call stub_file,$(OTHERS)))
INSTALLED = $(call put_from,$(MAY_BE_SHARED) $(if $(SONUMBER),$(MAY_BE_SHARED:%=%$(SONUMBER))),$(LIBDIR)) \
	$(foreach w,$(filter import/%,$(WORDS)),$(LIBDIR)/lazycuda/$(call import_file,$(w))) \
	$(ARCHIVE_FILES:$(BUILD)/lib/%=$(LIBDIR)/lazycuda/%) \
	$(foreach w,$(filter compat/%,$(WORDS)),$(LIBDIR)/lazycuda/$(call compat_file,$(w))) \
	$(call put_from,$(HEADERS),$(INCLUDEDIR)) $(BINDIR)/lazycuda \
	$(foreach p,$(PAGES),$(call put_from,$(p),$(call section,$(p)))) \
	$(call put_from,$(PCS),$(PC_DIR)) $(call put_from,$(CMAKES),$(CMAKE_DIR)) \
	$(COMPLETIONS) \
	$(call put_from,$(RETARGET) places,$(RETARGET_DIR)) $(call put_from,$(MAKERS),$(LIBEXEC_DIR)) \
	$(COPIES:%=$(SHARE_DIR)/%) $(EMBEDDED:%=$(EMBED_DIR)/%)

uninstall:
	$(foreach f,$(INSTALLED),$(call take,$(call to,$(f))))
	$(Q)rm -rf $(call to,$(RETARGET_DIR)/__pycache__) $(foreach m,$(MAJORS),$(call toolkit,$(m)))
	$(call take_folders,$(foreach d,$(OWN_DIRS) $(call compat_dirs,$(MAJORS)),$(call to,$(d))))

# ---- source archive ----

# The same bytes from the same sources, wherever they lie and whenever it is made.
DIST := lazycuda-$(VERSION)
SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y symbols.txt),$\
	$(error SOURCE_DATE_EPOCH is not set, and neither git nor stat says a date))
SOURCES := { test -e .git && git ls-files || \
	find . -type f -not -path './build/*' -not -path './$(BUILD)/*' -not -path '*/__pycache__/*' | sed 's|^\./||'; }
dist:
	@mkdir -p $(BUILD)
	$(Q)$(SOURCES) | LC_ALL=C sort | tar -cf $(BUILD)/$(DIST).tar --no-recursion -T - \
		--format=ustar --transform 's|^|$(DIST)/|' --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 \
		--group=0 --numeric-owner --mode=u+rw,go+r-w,a+X
	$(Q)gzip -9nf $(BUILD)/$(DIST).tar
	@echo $(BUILD)/$(DIST).tar.gz

# What is uploaded for pip: in $(BUILD)/dist.
release: dist
	$(Q)SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(PYTHON) packaging/release.py \
		$(BUILD)/$(DIST).tar.gz $(VERSION) $(BUILD)/dist
