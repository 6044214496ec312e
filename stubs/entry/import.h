/* SPDX-License-Identifier: MIT */
/*
 * import.h - bodies of the import libraries, for generated code
 *
 * An import library stands in for a stub while a program is linked, and gives
 * it the version nodes of one major.  It has the stub's SONAME, so at run time
 * the stub is loaded.  Nobody calls these functions.
 */
#ifndef IMPORT_H
#define IMPORT_H

#define LC_NAME(name) \
	__attribute__((visibility("default"))) void name(void); \
	void name(void) { __builtin_trap(); }

/* include/lazycuda.h */
LC_NAME(lazycuda_get_status)
LC_NAME(lazycuda_load)
LC_NAME(lazycuda_get_driver)
LC_NAME(lazycuda_get_error)
LC_NAME(lazycuda_get_guard)
LC_NAME(lazycuda_version)

#endif
