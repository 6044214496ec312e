# SPDX-License-Identifier: MIT
#
# make			the stubs, the import libraries, the command-line tool
# make test		every behaviour once, in five minutes; it ends with what it left out
# make test-all		all tests, and all of them under each sanitizer; CUDA_VERSIONS=all
#			with every CUDA that there is
# make test-asan	all tests under the address sanitizer; test-ubsan, test-tsan
# make demo		the four worlds; make bench: the figures; make bench-suite: where the
#			time of the last run of the tests went
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
# make generate		stubs/generated from symbols.txt; check-generated compares
# make symbols		symbols.txt from headers and libraries; check-symbols compares,
#			also with a library of yours: REAL=/path/to/libcudart.so.13=13.6
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
#	COMPAT=12,13	also stubs under the real SONAMEs of these majors, for binaries
#			that cannot be changed: LIBDIR/lazycuda/compat12 (docs/packaging.md)
#	RUNPATH=no	what is installed has no run path; the default in /usr/lib and the like

VERSION := 0.1.0
# Where the project is: its home page, its sources, and where problems are reported.  Empty until
# there are such places; tests/docs/test_urls.py says where each has to be written.
HOMEPAGE :=
REPOSITORY :=
ISSUES :=

BUILD ?= build
# GNU's names count where they are said to make, and not from the environment.
gnu = $(if $(filter command%,$(origin $(1))),$($(1)),$(2))
PREFIX ?= $(call gnu,prefix,/usr/local)
LIBDIR ?= $(call gnu,libdir,$(call gnu,exec_prefix,$(PREFIX))/lib)
INCLUDEDIR ?= $(call gnu,includedir,$(PREFIX)/include)
BINDIR ?= $(call gnu,bindir,$(call gnu,exec_prefix,$(PREFIX))/bin)
LIBEXECDIR ?= $(call gnu,libexecdir,$(call gnu,exec_prefix,$(PREFIX))/libexec)
DATADIR ?= $(call gnu,datadir,$(call gnu,datarootdir,$(PREFIX)/share))
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

ifdef CUDA_ABI
GENERATED := $(BUILD)/generated-$(CUDA_ABI)
else
GENERATED := stubs/generated
endif

SONUMBER := $(SOVERSION:%=.%)
STUBS := $(LIBRARIES:%=$(BUILD)/lib/lib%_stub.so)
LINK_LIBRARY := $(BUILD)/lib/liblazycuda_link.so
# libX_stub.import12.map is there for cuda12/libX_stub.so, and its version node is
# the real SONAME.
IMPORT_MAPS := $(sort $(wildcard stubs/generated/*.import*.map))
# Of libraries with majors.
MAJOR_MAPS := $(filter-out $(DRIVER:%=stubs/generated/lib%_stub.%),$(IMPORT_MAPS))
import_major = $(patsubst .import%,%,$(suffix $(basename $(1))))
import_stub = $(notdir $(basename $(basename $(1))))
import_library = $(patsubst lib%_stub,%,$(import_stub))
import_file = cuda$(call import_major,$(1))/$(call import_stub,$(1)).so
IMPORTS := $(foreach m,$(IMPORT_MAPS),$(BUILD)/lib/$(call import_file,$(m)))
MAJORS := $(sort $(foreach m,$(IMPORT_MAPS),$(call import_major,$(m))))

COMPAT_MAJORS := $(sort $(subst $(comma), ,$(COMPAT)))
UNKNOWN_MAJORS := $(filter-out $(MAJORS),$(COMPAT_MAJORS))
ifneq ($(UNKNOWN_MAJORS),)
$(error COMPAT=$(COMPAT): there is no CUDA $(UNKNOWN_MAJORS) here, only $(MAJORS))
endif
# libX_stub.compat12.SONAME.map is there for compat12/SONAME, of libraries with majors.
# $(1): library, $(2): major, $(3): SONAME
compat_map = stubs/generated/lib$(1)_stub.compat$(2).$(3).map
real_soname = $(patsubst $(call compat_map,$(1),$(2),%),%,$\
	$(wildcard $(call compat_map,$(1),$(2),*)))
# $(1): majors
compat_files = $(foreach m,$(1),$(foreach l,$(LIBRARIES),$\
	$(addprefix compat$(m)/,$(call real_soname,$(l),$(m)))))
COMPATS := $(addprefix $(BUILD)/lib/,$(call compat_files,$(COMPAT_MAJORS)))

object = $(addprefix $(BUILD)/obj/,$(addsuffix .o,$(basename $(1))))

.PHONY: all
all: $(BUILD)/gen/gen $(STUBS) $(IMPORTS) $(COMPATS) $(LINK_LIBRARY) $(BUILD)/bin/lazycuda \
	stub-maker

# A change of these is a change of everything that is compiled.
$(BUILD)/flags: FORCE
	$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(BASE_CFLAGS) \
		$(ENTRY_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) $(TOOL_LDFLAGS) $(LDLIBS) $(SOVERSION))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(BASE_CFLAGS) -Istubs -c $< -o $@

$(BUILD)/obj/generated/%_stub.o: $(GENERATED)/%_stub.c $(BUILD)/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(ENTRY_CFLAGS) $(WARNINGS) $(BASE_CFLAGS) -Istubs -c $< -o $@

# ---- stubs ----

# $(1): library, $(2): file, $(3): its SONAME, $(4): folder of the generated object, $(5): map
define stub
$(2): $(4)/lib$(1)_stub.o $(call object,$(COMMON) $(call own,$(1))) $(5)
	$$(call say,LINK)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(BASE_LDFLAGS) -Wl,-soname,$(strip $(3)) \
		-Wl,--version-script=$$(filter %.map,$$^) $$(filter %.o,$$^) -o $$@ $$(LIBDL) $$(LDLIBS)
	$(if $(filter-out $(notdir $(2)),$(3)),$$(Q)ln -sf $$(@F) $$(@D)/$(strip $(3)))
endef
$(foreach l,$(LIBRARIES),$(eval $(call stub,$(l),$(BUILD)/lib/lib$(l)_stub.so,\
	lib$(l)_stub.so$(SONUMBER),$(BUILD)/obj/generated,$(GENERATED)/lib$(l)_stub.map)))

# ---- stubs under the real SONAMEs ----

# $(1): library, $(2): major, $(3): SONAME
define compat
$(BUILD)/obj/compat$(2)/lib$(1)_stub.o: stubs/generated/lib$(1)_stub.c $(BUILD)/flags
	$$(call say,CC)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(ENTRY_CFLAGS) $$(WARNINGS) $$(BASE_CFLAGS) -Istubs \
		-DLC_COMPAT='"$(3)"' -c $$< -o $$@

$(call stub,$(1),$(BUILD)/lib/compat$(2)/$(3),$(3),$(BUILD)/obj/compat$(2),$\
	$(call compat_map,$(1),$(2),$(3)))
endef
$(foreach m,$(COMPAT_MAJORS),$(foreach l,$(LIBRARIES),$(foreach s,$(call real_soname,$(l),$(m)),$\
	$(eval $(call compat,$(l),$(m),$(s))))))

# ---- import libraries ----

# $(1): stub, $(2): major
define import
$(BUILD)/lib/cuda$(2)/$(1).so: stubs/generated/$(1).import.c \
		stubs/generated/$(1).import$(2).map stubs/entry/import.h $(BUILD)/flags
	$$(call say,IMPORT)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(IMPORT_FLAGS) -DLC_IMPORT=$(2) -Wl,-soname,$$(@F)$(SONUMBER) \
		-Wl,--version-script=$$(filter %.map,$$^) $$< -o $$@
endef
$(foreach m,$(IMPORT_MAPS),$(eval $(call import,$(call import_stub,$(m)),$(call import_major,$(m)))))

# ---- dispatch ----

# It is a caller like any other, compiled for 13: so it links what such callers
# link.  It looks for the stubs beside itself.
LINK_STUBS := $(foreach l,nvrtc nvJitLink cuda,$(BUILD)/lib/cuda13/lib$(l)_stub.so)
# $(1): file, $(2): its run path, $(3): what else it depends on
define link_library
$(1): $(call object,$(LINK)) link/run/lazycuda_link.map $(LINK_STUBS) $(3)
	$$(call say,LINK)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(BASE_LDFLAGS) -Wl,-soname,$$(@F)$(SONUMBER) \
		-Wl,--version-script=$$(filter %.map,$$^) $$(filter %.o,$$^) -o $$@ \
		$(LINK_STUBS) $(call run_path,$(2)) $$(LIBDL) $$(LDLIBS)
	$(if $(SONUMBER),$$(Q)ln -sf $$(@F) $$(@D)/$$(@F)$(SONUMBER))
endef
run_path = $(if $(1),-Wl$(comma)-rpath$(comma)'$(subst $$,$$$$,$(1))')
$(eval $(call link_library,$(LINK_LIBRARY),$$ORIGIN))

# ---- command-line tool ----

# $(1): file, $(2): its run path, $(3): its objects and what else it depends on
define tool
$(1): $(STUBS) $(LINK_LIBRARY) $(3)
	$$(call say,LINK)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(TOOL_LDFLAGS) $$(filter %.o,$$^) -o $$@ -L$$(BUILD)/lib \
		-Wl,--no-as-needed $$(LIBRARIES:%=-l%_stub) -llazycuda_link \
		$(call run_path,$(2)) -ldl $$(LDLIBS)
endef
TOOL_OBJECTS := $(call object,$(TOOL))
$(eval $(call tool,$(BUILD)/bin/lazycuda,$$ORIGIN/../lib,$(TOOL_OBJECTS)))

# ---- what `lazycuda stub` needs ----

# Its programs are the generator and the scanner, for where the tool is to run; what
# it copies lies as it does in the folders that it makes.  Both are found from where
# the tool lies, installed or not.
MAKERS := $(BUILD)/libexec/lazycuda/gen $(BUILD)/libexec/lazycuda/scan
$(BUILD)/libexec/lazycuda/gen: $(call object,$(GEN))
$(BUILD)/libexec/lazycuda/scan: $(call object,$(SCAN))
$(MAKERS):
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(TOOL_LDFLAGS) $^ -o $@ -ldl $(LDLIBS)

STUB_SHARE := $(BUILD)/share/lazycuda/stub
COPIED := LICENSE packaging/stub/flags.mk packaging/stub/folders.sh $(sort $(wildcard packaging/stub/*.*.in)) \
	packaging/cmake/lazycuda-config-version.cmake.in include/lazycuda.h $(COMMON) \
	$(sort $(wildcard $(STUB_ROOMS:%=%/*.h))) \
	$(DRIVER:%=stubs/generated/lib%_stub.real.h)
copied_as = $(patsubst packaging/cmake/lazycuda-%,%,$(patsubst packaging/stub/%,%,$(1)))
COPIES := $(call copied_as,$(COPIED)) Makefile
$(BUILD)/stub-maker: $(COPIED) packaging/stub/Makefile.in Makefile
	$(call say,COPY)
	$(Q)rm -rf $(STUB_SHARE) && mkdir -p $(sort $(dir $(COPIES:%=$(STUB_SHARE)/%)))
	$(foreach f,$(COPIED),$(Q)cp $(f) $(STUB_SHARE)/$(call copied_as,$(f))$(newline))
	$(Q)sed '/^VERSION/s|@VERSION@|$(VERSION)|' packaging/stub/Makefile.in >$(STUB_SHARE)/Makefile
	@touch $@

.PHONY: stub-maker
stub-maker: $(MAKERS) $(BUILD)/stub-maker

# ---- generator ----

$(BUILD)/gen/gen: $(GEN) $(wildcard gen/*.h gen/model/*.h)
	$(call say,HOSTCC)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HOSTCFLAGS) -std=gnu11 $(WARNINGS) $(GEN) -o $@

.PHONY: generate check-generated
generate: $(BUILD)/gen/gen
	$(Q)$< -o stubs/generated symbols.txt
	$(Q)$(PYTHON) tools/upkeep/adapted.py
	$(Q)$(PYTHON) tools/upkeep/linking.py

check-generated: $(BUILD)/gen/gen
	$(Q)rm -rf $(BUILD)/check-generated && mkdir -p $(BUILD)/check-generated
	$(Q)$< -o $(BUILD)/check-generated symbols.txt
	$(Q)diff -ru stubs/generated $(BUILD)/check-generated || \
		{ echo 'stubs/generated is not what symbols.txt gives: make generate' >&2; exit 1; }
	$(Q)$(PYTHON) tools/upkeep/adapted.py --check
	$(Q)$(PYTHON) tools/upkeep/linking.py --check

ifdef CUDA_ABI
$(LIBRARIES:%=$(GENERATED)/lib%_stub.c) $(LIBRARIES:%=$(GENERATED)/lib%_stub.map) &: \
		$(BUILD)/gen/gen symbols.txt
	$(call say,GEN)
	@mkdir -p $(@D)
	$(Q)$< --abi $(CUDA_ABI) -o $(@D) symbols.txt
	@touch $(LIBRARIES:%=$(GENERATED)/lib%_stub.c) $(LIBRARIES:%=$(GENERATED)/lib%_stub.map)
endif

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

.PHONY: symbols check-symbols toolkits libclang
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

# ---- tests, figures ----

# These look at what lies in build, and would look at another build than the one made.
OF_BUILD := $(filter test test-races test-faults test-all demo,$(MAKECMDGOALS))
ifneq ($(and $(OF_BUILD),$(filter-out $(abspath build),$(abspath $(BUILD)))),)
$(error BUILD='$(BUILD)': `make $(OF_BUILD)' looks at what is in build/: call it without BUILD)
endif

# What tests/run.py calls a configuration; sanitized ones are built by it.
SANITIZED_TESTS := test-asan test-ubsan test-tsan
.PHONY: test test-races test-faults test-all $(SANITIZED_TESTS) demo bench bench-suite fuzz
test: all
	$(Q)$(PYTHON) tests/run.py

$(SANITIZED_TESTS):
	$(Q)$(PYTHON) tests/run.py $(@:test-%=%)

ROUNDS ?= 10000
test-races: all
	$(Q)RACE_ROUNDS=$(ROUNDS) $(PYTHON) tests/run.py tests/threads/test_races.py \
		tests/aarch64/test_aarch64.py -k 'rounds or races'

test-faults: all
	$(Q)$(PYTHON) tests/run.py faults

test-all: all
	$(Q)$(PYTHON) tests/run.py --all plain $(SANITIZED_TESTS:test-%=%)

DISTRIBUTIONS ?=
.PHONY: test-distributions
test-distributions:
	$(Q)$(PYTHON) tests/distributions.py $(DISTRIBUTIONS)

.PHONY: gpu-bundle test-gpu
gpu-bundle: all
	$(Q)$(PYTHON) tests/gpu/bundle.py '$(BUILD)'

# GPU='graphs errors' for some of the claims.
test-gpu: gpu-bundle
	$(Q)$(BUILD)/gpu/lazycuda-gpu/run.sh $(GPU)

demo: all
	$(Q)$(PYTHON) examples/demo.py

bench: all
	$(Q)BUILD='$(BUILD)' $(PYTHON) bench/bench.py

bench-suite:
	$(Q)$(PYTHON) bench/suite.py

FUZZ_RUNS ?= 10000000
fuzz:
	$(Q)$(PYTHON) tests/fuzz/fuzz.py --runs $(FUZZ_RUNS)

# ---- installation, source archive ----

include packaging/install.mk

.PHONY: clean FORCE
# What was fetched stays: it is the same every time.
clean:
	rm -rf $(BUILD)/obj $(BUILD)/lib $(BUILD)/bin $(BUILD)/gen $(BUILD)/libexec $(BUILD)/share \
		$(BUILD)/generated-* $(BUILD)/check-generated $(BUILD)/placed $(BUILD)/flags $(BUILD)/stub-maker

-include $(patsubst %.o,%.d,$(call object,$(sort $(COMMON) $(foreach l,$(LIBRARIES),$(call own,$(l))) $(LINK) $(TOOL) $(GEN) $(SCAN))) \
	$(LIBRARIES:%=$(BUILD)/obj/generated/lib%_stub.o) \
	$(wildcard $(BUILD)/obj/compat*/*.o $(BUILD)/obj/placed/*.o))
