/* SPDX-License-Identifier: MIT */
/*
 * import.h - bodies of the import libraries, for generated code
 *
 * An import library stands in for a stub at link time and gives the program the
 * version nodes of one major.  The import library has the stub's SONAME, so the
 * stub is loaded at run time.  Nobody calls these functions: one body serves all
 * names, and a compiler takes a tenth of the time that a body for each would take.
 */
#ifndef IMPORT_H
#define IMPORT_H

static void lc_never_called(void)
{
	__builtin_trap();
}

#define LC_NAME(name) \
	__attribute__((visibility("default"), alias("lc_never_called"))) void name(void);

#define LC_DATA_NAME(name, size) \
	__attribute__((visibility("default"))) char name[size] = { 0 };

/* include/lazycuda.h */
LC_NAME(lazycuda_get_status)
LC_NAME(lazycuda_load)
LC_NAME(lazycuda_open_aside)
LC_NAME(lazycuda_get_driver)
LC_NAME(lazycuda_set_constraint)
LC_NAME(lazycuda_set_order)
LC_NAME(lazycuda_is_allowed)
LC_NAME(lazycuda_get_error)
LC_NAME(lazycuda_get_guard)
LC_NAME(lazycuda_version)

#endif
