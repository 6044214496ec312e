/* SPDX-License-Identifier: MIT */
/* count.h - how many elements an array has */
#ifndef COUNT_H
#define COUNT_H

#define LC_COUNT(array) (sizeof(array) / sizeof(*(array)))

#endif
