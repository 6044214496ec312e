# SPDX-License-Identifier: MIT
#
# install.mk - what the Makefile installs, and the source archive

.PHONY: install uninstall dist

# ---- places ----

# A folder as it is seen from another, if both are below PREFIX; else itself.
space := $(subst ,, )
below = $(filter $(PREFIX)/%,$(1))
up = $(subst $(space),/,$(patsubst %,..,$(subst /, ,$(1:$(PREFIX)/%=%))))
from = $(if $(and $(call below,$(1)),$(call below,$(2))),$(call up,$(1))/$(2:$(PREFIX)/%=%),$(2))
to = '$(DESTDIR)$(1)'

PC_DIR := $(LIBDIR)/pkgconfig
CMAKE_DIR := $(LIBDIR)/cmake/lazycuda
BASH_DIR := $(DATADIR)/bash-completion/completions
ZSH_DIR := $(DATADIR)/zsh/site-functions
FISH_DIR := $(DATADIR)/fish/vendor_completions.d
# The programs that `lazycuda stub` runs, and what it copies (tools/stub.c).
LIBEXEC_DIR := $(LIBEXECDIR)/lazycuda
SHARE_DIR := $(DATADIR)/lazycuda/stub
# The Python code of `lazycuda retarget` (tools/retarget.c).
RETARGET_DIR := $(DATADIR)/lazycuda/python/lazycuda

# The dynamic loader looks there by itself.
SYSTEM_LIBDIRS := /lib /lib64 /usr/lib /usr/lib64 /lib/%-linux-gnu /usr/lib/%-linux-gnu
RUNPATH ?= $(if $(filter $(SYSTEM_LIBDIRS),$(LIBDIR)),no,yes)

# ---- what depends on where it is to lie ----

PLACED := $(BUILD)/placed
$(PLACED)/flags: FORCE
	$(call remember,$(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(BINDIR) $(RUNPATH) $(CUDA_ABI) $(SOVERSION))

# What is in $(BUILD) itself is run from there; this is linked for its place.
BIN_TO_LIB := $(patsubst ..%,$$ORIGIN/..%,$(call from,$(BINDIR),$(LIBDIR)))
$(eval $(call link_library,$(PLACED)/lib/$(notdir $(LINK_LIBRARY)),$\
	$(if $(filter yes,$(RUNPATH)),$$ORIGIN),$(PLACED)/flags))
$(eval $(call tool,$(PLACED)/bin/lazycuda,$\
	$(if $(filter yes,$(RUNPATH)),$(BIN_TO_LIB)),$(PLACED)/flags))

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
$(foreach l,$(LIBRARIES),$(eval $(call stub_pc,$(l),$(call package,$(l)))))
$(foreach m,$(MAJOR_MAPS),$(eval $(call stub_pc,$(call import_library,$(m)),$\
	$(call package,$(call import_library,$(m))),$(call import_major,$(m)))))

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
PAGES := $(sort $(wildcard docs/*.[1-8]))
# $(1): manual page; the folder of its section
section = $(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))
RETARGET := $(sort $(wildcard packaging/python/lazycuda/*.py))
SHARE_DIRS := $(SHARE_DIR) $(SHARE_DIR)/include $(SHARE_DIR)/stubs $(SHARE_DIR)/stubs/generated
IMPORT_DIRS := $(MAJORS:%=$(LIBDIR)/lazycuda/cuda%)

# $(1): shared library; with a SOVERSION it is called by that, and a link leads there.
install_shared = $(INSTALL_PROGRAM) $(1) $(call to,$(LIBDIR)/$(notdir $(1))$(SONUMBER)) \
	$(if $(SONUMBER),&& ln -sf $(notdir $(1))$(SONUMBER) $(call to,$(LIBDIR)/$(notdir $(1))))
# $(1): command and mode, $(2): files below $(BUILD)/lib, which keep their folders
install_below = $(foreach f,$(2),$(1) $(f) $(call to,$(f:$(BUILD)/lib/%=$(LIBDIR)/lazycuda/%)) &&) :

install: all $(SHARED) $(PLACED)/bin/lazycuda $(PCS) $(CMAKES)
	$(INSTALL) -d $(foreach d,$(LIBDIR) $(INCLUDEDIR) $(BINDIR) $(PC_DIR) \
		$(sort $(foreach p,$(PAGES),$(call section,$(p)))) \
		$(CMAKE_DIR) $(BASH_DIR) $(ZSH_DIR) $(FISH_DIR) $(RETARGET_DIR) $(IMPORT_DIRS) \
		$(LIBEXEC_DIR) $(SHARE_DIRS) \
		$(COMPAT_MAJORS:%=$(LIBDIR)/lazycuda/compat%),$(call to,$(d)))
	$(foreach f,$(SHARED),$(call install_shared,$(f)) &&) :
	$(call install_below,$(INSTALL_DATA),$(IMPORTS))
	$(call install_below,$(INSTALL_PROGRAM),$(COMPATS))
	$(INSTALL_DATA) $(HEADERS) $(call to,$(INCLUDEDIR))
	$(INSTALL_PROGRAM) $(PLACED)/bin/lazycuda $(call to,$(BINDIR))
	$(foreach p,$(PAGES),$(INSTALL_DATA) $(p) $(call to,$(call section,$(p))) &&) :
	$(INSTALL_DATA) $(PCS) $(call to,$(PC_DIR))
	$(INSTALL_DATA) $(CMAKES) $(call to,$(CMAKE_DIR))
	$(INSTALL_DATA) packaging/completions/lazycuda.bash $(call to,$(BASH_DIR)/lazycuda)
	$(INSTALL_DATA) packaging/completions/lazycuda.zsh $(call to,$(ZSH_DIR)/_lazycuda)
	$(INSTALL_DATA) packaging/completions/lazycuda.fish $(call to,$(FISH_DIR)/lazycuda.fish)
	$(INSTALL_DATA) $(RETARGET) $(call to,$(RETARGET_DIR))
	$(INSTALL_PROGRAM) $(MAKERS) $(call to,$(LIBEXEC_DIR))
	$(foreach f,$(COPIES),$(INSTALL_DATA) $(STUB_SHARE)/$(f) $(call to,$(SHARE_DIR)/$(f)) &&) :

# $(1): files, $(2): the folder where they were put
uninstall_from = $(foreach f,$(1),$(call to,$(2)/$(notdir $(f))))

uninstall:
	rm -f $(call uninstall_from,$(SHARED) $(SHARED:%=%$(SONUMBER)),$(LIBDIR))
	rm -f $(foreach m,$(IMPORT_MAPS),$(call to,$(LIBDIR)/lazycuda/$(call import_file,$(m))))
	rm -f $(foreach f,$(call compat_files,$(MAJORS)),$(call to,$(LIBDIR)/lazycuda/$(f)))
	rm -f $(call uninstall_from,$(HEADERS),$(INCLUDEDIR))
	rm -f $(call to,$(BINDIR)/lazycuda)
	rm -f $(foreach p,$(PAGES),$(call uninstall_from,$(p),$(call section,$(p))))
	rm -f $(call uninstall_from,$(PCS),$(PC_DIR))
	rm -f $(call uninstall_from,$(CMAKES),$(CMAKE_DIR))
	rm -f $(call to,$(BASH_DIR)/lazycuda) $(call to,$(ZSH_DIR)/_lazycuda) \
		$(call to,$(FISH_DIR)/lazycuda.fish)
	rm -f $(call uninstall_from,$(RETARGET),$(RETARGET_DIR))
	rm -rf $(call to,$(RETARGET_DIR)/__pycache__)
	rm -f $(call uninstall_from,$(MAKERS),$(LIBEXEC_DIR)) $(foreach f,$(COPIES),$(call to,$(SHARE_DIR)/$(f)))
	rmdir $(foreach d,$(IMPORT_DIRS) $(MAJORS:%=$(LIBDIR)/lazycuda/compat%) \
		$(LIBDIR)/lazycuda $(CMAKE_DIR) $(RETARGET_DIR) $(patsubst %/,%,$(dir $(RETARGET_DIR))) \
		$(LIBEXEC_DIR) $(LIBEXECDIR) $(SHARE_DIR)/stubs/generated $(SHARE_DIR)/stubs \
		$(SHARE_DIR)/include $(SHARE_DIR) $(DATADIR)/lazycuda,$(call to,$(d))) 2>/dev/null || :

# ---- source archive ----

# The same bytes from the same sources, wherever they lie and whenever it is made.
DIST := lazycuda-$(VERSION)
SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),$(shell stat -c %Y symbols.txt))
SOURCES := { test -e .git && git ls-files || \
	find . -type f -not -path './build/*' -not -path './$(BUILD)/*' | sed 's|^\./||'; }
dist:
	@mkdir -p $(BUILD)
	$(Q)$(SOURCES) | LC_ALL=C sort | tar -cf $(BUILD)/$(DIST).tar --no-recursion -T - \
		--format=ustar --transform 's|^|$(DIST)/|' --mtime=@$(SOURCE_DATE_EPOCH) --owner=0 \
		--group=0 --numeric-owner --mode=u+rw,go+r-w,a+X
	$(Q)gzip -9nf $(BUILD)/$(DIST).tar
	@echo $(BUILD)/$(DIST).tar.gz
