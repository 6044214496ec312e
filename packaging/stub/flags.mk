# SPDX-License-Identifier: MIT
#
# flags.mk - how a stub is compiled and linked, here and in what `lazycuda stub` makes

ifeq ($(origin CC),default)
CC := cc
endif
CFLAGS ?= -O2 -g
WARNINGS ?= -Wall -Wextra

# What no CFLAGS can take away.
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -fPIC -fvisibility=hidden \
	-Werror=implicit-function-declaration -ffile-prefix-map=$(CURDIR)=. \
	-DLAZYCUDA_VERSION='"$(VERSION)"' -MMD -MP
# Entry points are one jump however the rest is built: optimised, and nothing
# that a compiler adds at the beginning or the end of a function.
ENTRY_CFLAGS = $(filter-out -pg -p -finstrument-functions --coverage -coverage \
	-ftest-coverage -fprofile% -fsanitize% -flto%,$(CFLAGS)) -O2 -fno-lto \
	-fno-stack-protector -fomit-frame-pointer -foptimize-sibling-calls
# Without crtbegin.o, whose constructor would be the only code that loading runs.
BASE_LDFLAGS := -shared -nostartfiles -Wl,-z,relro,-z,now,-z,nodelete,-z,defs,-z,noexecstack \
	-Wl,--hash-style=gnu
# Nobody calls what is in an import library, and it needs nothing.
IMPORT_FLAGS = $(CPPFLAGS) $(ENTRY_CFLAGS) -fPIC -fno-builtin -ffile-prefix-map=$(CURDIR)=. \
	-Istubs $(filter-out -fsanitize%,$(LDFLAGS)) -shared -nostdlib -Wl,-z,noexecstack

comma := ,
# Before glibc 2.34 dlopen() was in libdl: a stub that is to run there has to
# name it, though newer ones need it no more (stubs/glibc.h).
LIBDL := $(if $(filter /%,$(shell $(CC) -print-file-name=libdl.so.2)),\
	-Wl$(comma)--push-state$(comma)--no-as-needed -l:libdl.so.2 -Wl$(comma)--pop-state,-ldl)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' $(1) $(patsubst $(CURDIR)/%,%,$@))

# Recipe of a file that holds this text, and is new only where the text is.
quote = '$(subst ','\'',$(1))'
define remember
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(1)) >$@.new
	@if cmp -s $@ $@.new; then rm $@.new; else mv $@.new $@; fi
endef
