/* SPDX-License-Identifier: MIT */
/*
 * libclang.h - the part of libclang's C interface that scan needs
 *
 * The declarations are here because the wheel on PyPI has the library without
 * its headers.  scan loads libclang with dlopen() because only two uses need it:
 * deriving symbols.txt, and `lazycuda stub --header`.  The enum values are those
 * of libclang 18.  They have changed between releases, so libclang_open() refuses
 * any other release.
 */
#ifndef LIBCLANG_H
#define LIBCLANG_H

#define LIBCLANG_MAJOR 18

typedef void *CXIndex;
typedef struct CXTranslationUnitImpl *CXTranslationUnit;
typedef void *CXDiagnostic;
typedef void *CXClientData;
typedef void *CXFile;

typedef struct {
	const void *data;
	unsigned flags;
} CXString;

typedef struct {
	int kind;
	int xdata;
	const void *data[3];
} CXCursor;

typedef struct {
	int kind;
	void *data[2];
} CXType;

typedef struct {
	const void *data[2];
	unsigned position;
} CXSourceLocation;

struct CXUnsavedFile {
	const char *Filename;
	const char *Contents;
	unsigned long Length;
};

enum {
	CXCursor_EnumDecl = 5,
	CXCursor_EnumConstantDecl = 7,
	CXCursor_FunctionDecl = 8,
	CXCursor_TypedefDecl = 20,
	CXCursor_Namespace = 22,
	CXCursor_LinkageSpec = 23
};

enum {
	CXType_Void = 2,
	CXType_Bool = 3,
	CXType_Char_U = 4,
	CXType_UChar = 5,
	CXType_UShort = 8,
	CXType_UInt = 9,
	CXType_ULong = 10,
	CXType_ULongLong = 11,
	CXType_Char_S = 13,
	CXType_SChar = 14,
	CXType_WChar = 15,
	CXType_Short = 16,
	CXType_Int = 17,
	CXType_Long = 18,
	CXType_LongLong = 19,
	CXType_Float = 21,
	CXType_Double = 22,
	CXType_Pointer = 101,
	CXType_Record = 105,
	CXType_Enum = 106,
	CXType_FunctionNoProto = 110,
	CXType_FunctionProto = 111,
	CXType_ConstantArray = 112
};

enum { CXLinkage_External = 4 };
enum { CXDiagnostic_Error = 3 };
enum { CXTranslationUnit_SkipFunctionBodies = 0x40 };

enum CXChildVisitResult { CXChildVisit_Break, CXChildVisit_Continue, CXChildVisit_Recurse };
enum CXVisitorResult { CXVisit_Break, CXVisit_Continue };

typedef enum CXChildVisitResult (*CXCursorVisitor)(CXCursor, CXCursor, CXClientData);
typedef enum CXVisitorResult (*CXFieldVisitor)(CXCursor, CXClientData);

/* X(result, name without clang_, parameters) */
#define LIBCLANG_FUNCTIONS(X) \
	X(CXString, getClangVersion, (void)) \
	X(const char *, getCString, (CXString)) \
	X(void, disposeString, (CXString)) \
	X(CXIndex, createIndex, (int, int)) \
	X(void, disposeIndex, (CXIndex)) \
	X(int, parseTranslationUnit2, (CXIndex, const char *, const char *const *, \
		int, struct CXUnsavedFile *, unsigned, unsigned, CXTranslationUnit *)) \
	X(void, disposeTranslationUnit, (CXTranslationUnit)) \
	X(unsigned, getNumDiagnostics, (CXTranslationUnit)) \
	X(CXDiagnostic, getDiagnostic, (CXTranslationUnit, unsigned)) \
	X(int, getDiagnosticSeverity, (CXDiagnostic)) \
	X(CXString, formatDiagnostic, (CXDiagnostic, unsigned)) \
	X(void, disposeDiagnostic, (CXDiagnostic)) \
	X(CXCursor, getTranslationUnitCursor, (CXTranslationUnit)) \
	X(unsigned, visitChildren, (CXCursor, CXCursorVisitor, CXClientData)) \
	X(unsigned, Type_visitFields, (CXType, CXFieldVisitor, CXClientData)) \
	X(int, getCursorKind, (CXCursor)) \
	X(int, getCursorLinkage, (CXCursor)) \
	X(CXString, getCursorSpelling, (CXCursor)) \
	X(CXString, Cursor_getMangling, (CXCursor)) \
	X(CXSourceLocation, getCursorLocation, (CXCursor)) \
	X(void, getExpansionLocation, (CXSourceLocation, CXFile *, unsigned *, unsigned *, \
		unsigned *)) \
	X(CXString, getFileName, (CXFile)) \
	X(CXType, getCursorType, (CXCursor)) \
	X(CXType, getCursorResultType, (CXCursor)) \
	X(int, Cursor_getNumArguments, (CXCursor)) \
	X(CXCursor, Cursor_getArgument, (CXCursor, unsigned)) \
	X(CXType, getArgType, (CXType, unsigned)) \
	X(unsigned, Cursor_isVariadic, (CXCursor)) \
	X(unsigned, Cursor_isBitField, (CXCursor)) \
	X(unsigned, Cursor_isAnonymousRecordDecl, (CXCursor)) \
	X(long long, Cursor_getOffsetOfField, (CXCursor)) \
	X(long long, getEnumConstantDeclValue, (CXCursor)) \
	X(CXType, getCanonicalType, (CXType)) \
	X(CXType, getPointeeType, (CXType)) \
	X(unsigned, isConstQualifiedType, (CXType)) \
	X(CXType, getArrayElementType, (CXType)) \
	X(long long, getArraySize, (CXType)) \
	X(CXString, getTypeSpelling, (CXType)) \
	X(CXCursor, getTypeDeclaration, (CXType)) \
	X(long long, Type_getSizeOf, (CXType))

struct libclang {
	void *handle;
#define X(result, name, parameters) result (*name) parameters;
	LIBCLANG_FUNCTIONS(X)
#undef X
};

#endif
