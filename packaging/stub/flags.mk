# SPDX-License-Identifier: MIT
#
# flags.mk - how a stub is compiled and linked, here and in what `lazycuda stub` makes

# `make clean` removes BUILD/lib, BUILD/bin, BUILD/gen ...
ifneq ($(words $(BUILD)),1)
$(error BUILD='$(BUILD)': it has to be the path of one folder, without spaces)
endif
# $(CURDIR) may have spaces.
ifneq ($(filter /,$(abspath $(BUILD)))$(findstring :$(abspath $(BUILD)):,:$(CURDIR):),)
$(error BUILD='$(BUILD)': it has to be a folder of its own)
endif

ifeq ($(origin CC),default)
CC := cc
endif
CFLAGS ?= -O2 -g
WARNINGS ?= -Wall -Wextra

quote = '$(subst ','\'',$(1))'
# The folder may have a name with spaces; no file says where it was built.
WHERE := -ffile-prefix-map=$(call quote,$(CURDIR))=. -ffile-prefix-map=$(call quote,$(abspath $(BUILD)))=build

# What no CFLAGS can take away.  Link-time optimisation would move code to where the
# .symver lines of stubs/base/glibc.h do not hold.  Each stub goes without the functions that it
# does not call.
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -ffunction-sections \
	-Werror=implicit-function-declaration $(WHERE) \
	-DLAZYCUDA_VERSION='"$(VERSION)"' -MMD -MP -fno-lto
# Entry points are one jump however the rest is built: optimised, and nothing
# that a compiler adds at the beginning or the end of a function.  -O2 makes the same jumps
# on x86-64 and aarch64; beside them are as many slow functions, whose unwinding data -Os
# makes a quarter smaller.  A debugger needs no lines of thousands of jumps.
ENTRY_CFLAGS = $(filter-out -pg -p -finstrument-functions --coverage -coverage \
	-ftest-coverage -fprofile% -fsanitize% -flto%,$(CFLAGS)) -Os -g0 -fno-lto \
	-fno-stack-protector -fomit-frame-pointer -foptimize-sibling-calls
# Without crtbegin.o, whose constructor would run beside the stub's own (stubs/loader/loader.c).
BASE_LDFLAGS := -shared -nostartfiles -Wl,-z,relro,-z,now,-z,nodelete,-z,defs,-z,noexecstack \
	-Wl,--hash-style=gnu,--gc-sections
# Nobody calls the functions of an import library, so nobody debugs it, and it needs nothing.
IMPORT_FLAGS = $(CPPFLAGS) $(ENTRY_CFLAGS) -fPIC -fno-builtin $(WHERE) \
	-Istubs $(filter-out -fsanitize%,$(LDFLAGS)) -shared -nostdlib -s -Wl,-z,noexecstack

comma := ,
space := $(subst ,, )
# Before glibc 2.34 dlopen() was in libdl: a stub that is to run there has to
# name it, though newer ones need it no more (stubs/base/glibc.h).
# The compiler is asked once, and only if something is linked.
ifndef LIBDL
LIBDL = $(eval LIBDL := $(call libdl,$(shell $(CC) -print-file-name=libdl.so.2)))$(LIBDL)
endif
libdl = $(if $(filter-out 0,$(.SHELLSTATUS)),$\
	$(error CC='$(CC)': this compiler does not run: it was asked where libdl.so.2 is),$\
	$(if $(filter /%,$(1)),$\
	-Wl$(comma)--push-state$(comma)--no-as-needed -l:libdl.so.2 -Wl$(comma)--pop-state,-ldl))

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' $(1) $(patsubst $(CURDIR)/%,%,$@))

# Recipe of a file that holds this text, and is written only if the text has changed.
define remember
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(1)) >$@.$$$$ && \
		if cmp -s $@ $@.$$$$; then rm $@.$$$$; else mv $@.$$$$ $@; fi
endef

# Stubs share what searches found out with those of the same sources alone (stubs/loader/peers.h): a
# number that is typed by hand would be forgotten once.
SHARED_BY := $(sort $(wildcard stubs/entry/*.[ch] stubs/base/*.[ch] stubs/loader/*.[ch]))
.DEFAULT_GOAL := all
$(BUILD)/obj/stubs/loader/record.o: BASE_CFLAGS += -DLC_SOURCES='"$(shell cat $(SHARED_BY) | cksum)"'
$(BUILD)/obj/stubs/loader/record.o: $(SHARED_BY)

# ---- compile, link ----

# Recipes; $(INCLUDES) are the makefile's.  $(1): $(CFLAGS) or $(ENTRY_CFLAGS), and macros
define compile
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(1) $(WARNINGS) $(BASE_CFLAGS) $(INCLUDES) -c $< -o $@
endef
# $(1): SONAME, $(2): the libraries it needs
define link
	$(call say,LINK)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -Wl,-soname,$(1) -Wl,--version-script=$(filter %.map,$^) \
		$(filter %.o,$^) -o $@ $(2) $(LIBDL) $(LDLIBS)
endef
# $(1): major, $(2): SONAME
define link_import
	$(call say,IMPORT)
	@mkdir -p $(@D)
	$(Q)$(CC) $(IMPORT_FLAGS) -DLC_IMPORT=$(1) -Wl,-soname,$(2) -Wl,--version-script=$(filter %.map,$^) $< -o $@
endef

# $(1): the majors that there are, or nothing if that is unknown, $(2): what they are of, $(3): COMPAT or
# TOOLKITS; those that it names
majors_of = $(if $(filter all,$($(3))),$(1),$(call known,$(sort $(subst $(comma), ,$($(3)))),$(1),$(2),$(3)))
known = $(if $(and $(2),$(filter-out $(2),$(1))),$\
	$(error $(4)=$($(4)): there is no $(3) $(filter-out $(2),$(1)) here, only $(2)),$(1))

# ---- install ----

# $(1): text, $(2): characters; the text without them
other_than = $(strip $(if $(2),$\
	$(call other_than,$(subst $(firstword $(2)),,$(1)),$(wordlist 2,$(words $(2)),$(2))),$(1)))
DIGITS := 0 1 2 3 4 5 6 7 8 9
# Places go through make, sh, sed, C, the linker, ld.so, pkg-config and CMake: these characters mean
# themselves to all of them.  pkg-config writes what is not ASCII in a way that Meson cannot read.
PLAIN := a b c d e f g h i j k l m n o p q r s t u v w x y z / . _ - + = @ ~ $(DIGITS) \
	A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
# $(1): a path; what in it keeps files from being installed there
odd_path = $(strip $(if $(filter /%,$(1)),,relative)$(word 2,$(1))$(filter ..,$(subst /, ,$(1)))$\
	$(call other_than,$(1),$(PLAIN)))
# $(1): names of settings.  A link may be on the way to `..`, so nobody but the user can say what is
# meant; without //, . and a / at the end a path has one spelling.
check_places = $(if $(findstring ',$(DESTDIR)),$\
	$(error DESTDIR='$(DESTDIR)': a path with a quote cannot be installed to))$\
	$(foreach p,$(1),$(if $(call odd_path,$($(p))),$(call refuse_place,$(p))$\
	,$(eval override $(p) := $(abspath $($(p))))))
refuse_place = $(error $(1)='$($(1))': give an absolute path without .. in it, of ASCII letters, digits and \
	/ . _ - + = @ ~ alone)

# Lines of recipes that install: one for each file, which says where it goes.
define newline


endef
# $(1): folder, quoted
folder = $(Q)$(INSTALL) -d $(1)$(newline)
# $(1): folders that bear our name, quoted; they go if they are empty.
take_folders = $(Q)printf '%s\n' $(1) | LC_ALL=C sort -r | while read -r folder; do \
	rmdir "$$folder" 2>/dev/null || :; done
# $(1): command, $(2): file, $(3): where it is to lie, quoted
put = $(if $(V),,@printf '  %-8s%s\n' INSTALL $(3) && )$(1) $(2) $(3)$(newline)
# $(1): file, quoted
take = $(if $(V),rm -f $(1),@if [ -e $(1) ] || [ -L $(1) ]; then \
	printf '  %-8s%s\n' REMOVE $(1) && rm -f $(1); fi)$(newline)
