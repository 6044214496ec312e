/* SPDX-License-Identifier: MIT */
/*
 * by_driver.c - driver functions for the caller's version, and what the driver does where the
 * runtime has no function for it
 *
 * The driver has several interfaces of a function under one name, and its
 * cuGetProcAddress() hands out the one that a version knows.  The runtime's
 * cudaGetDriverEntryPoint() asks for the one of the runtime's own version; the caller
 * wants the one that its own headers declare.  From 12.5 on the runtime can be asked
 * for that.  Older ones hand out the driver's cuGetProcAddress(), which can.
 */
#include "adaptor.h"
#include "../../base/count.h"
#include "adaptors.h"

/* cuGetProcAddress(), since 12.0 and before.  A CUresult has the value of the cudaError_t
 * of the same meaning.  Since 12.0 it writes a cudaDriverEntryPointQueryResult, and a
 * function that is not there is no error. */
typedef int32_t get_address(void *symbol, void *function, uint32_t version, uint64_t flags,
			    void *query);
typedef int32_t get_address_11(const char *symbol, void *function, int32_t version,
			       uint64_t flags);

enum { QUERY_FOUND = 0, QUERY_NOT_FOUND = 1 };	/* cudaDriverEntryPointQueryResult */
enum { DEFAULT_STREAM = 0, PER_THREAD = 2 };	/* flags */

struct driver_lookup {
	int32_t version;	/* 12020 */
	get_address *get;	/* NULL: a driver of 11 */
	get_address_11 *get_11;	/* NULL: not needed, or the driver has none */
};

/*
 * These return 0, or the runtime's error, which the runtime remembers.  Each is for
 * the runtimes that fill the slot in its name.  A runtime hands out what its own major
 * calls cuGetProcAddress(); drivers before 11.3 have none.
 */
static int32_t driver_of_11(struct driver_lookup *driver)
{
	int32_t (*version)(int32_t *) = NULL;
	int32_t error = lc_slots.cudaGetDriverEntryPoint_11("cuGetProcAddress", &driver->get_11,
							    DEFAULT_STREAM);

	if (!error)
		error = lc_slots.cudaGetDriverEntryPoint_11("cuDriverGetVersion", &version,
							    DEFAULT_STREAM);
	if (error || !version || !driver->get_11)
		return error;
	error = version(&driver->version);
	if (!error && driver->version >= 12000)
		error = driver->get_11("cuGetProcAddress", &driver->get, 12000, DEFAULT_STREAM);
	return error;
}

static int32_t driver_of_12(struct driver_lookup *driver)
{
	int32_t (*version)(int32_t *) = NULL;
	int32_t error = lc_slots.cudaGetDriverEntryPoint_12("cuGetProcAddress", &driver->get,
							    DEFAULT_STREAM, NULL);

	if (!error)
		error = lc_slots.cudaGetDriverEntryPoint_12("cuDriverGetVersion", &version,
							    DEFAULT_STREAM, NULL);
	return error || !version ? error : version(&driver->version);
}

/*
 * The driver functions that changed their interface under one name, and the version
 * since which the name stands for the new one.  An older driver, asked for that
 * version, hands out the old one.
 */
static const struct change {
	const char *name;
	int32_t since;
} changes[] = {
	{ "cuCtxCreate", 12050 },
	{ "cuCtxGetDevice", 13000 },
	{ "cuCtxSynchronize", 13000 },
	{ "cuGetProcAddress", 12000 },
	{ "cuGraphAddDependencies", 12030 },
	{ "cuGraphAddKernelNode", 12000 },
	{ "cuGraphAddNode", 12030 },
	{ "cuGraphExecKernelNodeSetParams", 12000 },
	{ "cuGraphExecUpdate", 12000 },
	{ "cuGraphGetEdges", 12030 },
	{ "cuGraphKernelNodeGetParams", 12000 },
	{ "cuGraphKernelNodeSetParams", 12000 },
	{ "cuGraphNodeGetDependencies", 12030 },
	{ "cuGraphNodeGetDependentNodes", 12030 },
	{ "cuGraphRemoveDependencies", 12030 },
	{ "cuLaunchHostFunc", 13020 },
	{ "cuMemAdvise", 12020 },
	{ "cuMemPrefetchAsync", 12020 },
	{ "cuMemcpy3DBatchAsync", 13000 },
	{ "cuMemcpyBatchAsync", 13000 },
	{ "cuMulticastBindAddr", 13010 },
	{ "cuMulticastBindMem", 13010 },
	{ "cuStreamGetCaptureInfo", 12030 },
	{ "cuStreamGetCtx", 12050 },
	{ "cuStreamUpdateCaptureDependencies", 12030 },
};

/* Returns true if this driver lacks the interface that `version` asks for, and has an older one
 * under the name. */
static bool is_too_old(const struct driver_lookup *driver, const char *symbol, uint32_t version)
{
	for (size_t i = 0; i < LC_COUNT(changes); i++)
		if (!strcmp(changes[i].name, symbol))
			return driver->version < changes[i].since &&
			       version >= (uint32_t)changes[i].since;
	return false;
}

/* Asks the driver for a function; *query is QUERY_FOUND, or *function is NULL. */
static int32_t find_driver_function(const struct driver_lookup *driver, void *symbol, void *function,
				    uint32_t version, uint64_t flags, int32_t *query)
{
	int32_t error = LC_SYMBOL_NOT_FOUND;

	if (!symbol || !function)
		return LC_INVALID_VALUE;
	if (!is_too_old(driver, symbol, version)) {
		if (driver->get)
			return driver->get(symbol, function, version, flags, query);
		if (driver->get_11)
			error = driver->get_11(symbol, function, (int32_t)version, flags);
	}
	*query = error == LC_SYMBOL_NOT_FOUND ? QUERY_NOT_FOUND : QUERY_FOUND;
	if (error != LC_SYMBOL_NOT_FOUND)
		return error;
	memset(function, 0, sizeof(void *));
	return 0;
}

/* --- cudaGetDriverEntryPoint() --- */

#define SAYS_DRIVER "so says the driver's cuGetProcAddress()"

/* The newest version of a major, as cudaRuntimeGetVersion() gives it: 12090.  Only the major of the
 * caller's version is known. */
static uint32_t newest_of(int major)
{
	for (size_t i = 0; i < lc_library.major_count; i++)
		if (lc_library.majors[i].major == major)
			return lc_library.majors[i].newest * 10u;
	return 0;
}

/* 12.0 added the query; 11 reports by an error that there is no such function. */
static int32_t told_by_error(unsigned slot, int32_t error, int32_t query)
{
	return error || query == QUERY_FOUND ? error :
	       lc_refuse_with(slot, LC_REFUSED, LC_SYMBOL_NOT_FOUND, SAYS_DRIVER);
}

/* `start` finds the driver. */
static int32_t entry_point(unsigned slot, int32_t (*start)(struct driver_lookup *), void *symbol,
			   void *function, uint32_t version, uint64_t flags, void *query)
{
	struct driver_lookup driver = { 0 };
	int32_t found = QUERY_FOUND, error = start(&driver);

	if (error)
		return error;
	error = find_driver_function(&driver, symbol, function, version, flags, &found);
	if (error)
		return lc_refuse_with(slot, LC_REFUSED, error, SAYS_DRIVER);
	if (query)
		memcpy(query, &found, sizeof(found));
	return 0;
}

static int32_t entry_point_11(unsigned slot, int32_t (*start)(struct driver_lookup *), void *symbol,
			      void *function, uint64_t flags)
{
	int32_t query = QUERY_FOUND;
	int32_t error = entry_point(slot, start, symbol, function, newest_of(11), flags, &query);

	return told_by_error(slot, error, query);
}

/* For callers of 12 and 13.  The default flag of a _ptsz function means per-thread streams. */
#define ENTRY_POINT(suffix, by_default, callers, start) \
int32_t lc_adapt_cudaGetDriverEntryPoint##suffix##_##callers##_by_##start(void *symbol, \
		void *function, uint64_t flags, void *query) \
{ \
	return entry_point(LC_SLOT_cudaGetDriverEntryPoint##suffix##_##callers, start, symbol, \
			   function, newest_of(callers), flags ? flags : (by_default), query); \
}

#define ENTRY_POINT_11(suffix, by_default, start) \
int32_t lc_adapt_cudaGetDriverEntryPoint##suffix##_11_by_##start(void *symbol, void *function, \
								 uint64_t flags) \
{ \
	return entry_point_11(LC_SLOT_cudaGetDriverEntryPoint##suffix##_11, start, symbol, \
			      function, flags ? flags : (by_default)); \
}

#define BY_VERSION(suffix, by_default, start) \
int32_t lc_adapt_cudaGetDriverEntryPointByVersion##suffix##_by_##start(void *symbol, \
		void *function, uint32_t version, uint64_t flags, void *query) \
{ \
	return entry_point(LC_SLOT_cudaGetDriverEntryPointByVersion##suffix, start, symbol, \
			   function, version, flags ? flags : (by_default), query); \
}

/* From 12.5 on the runtime can be asked for a version. */
#define RUNTIME_ASKED(suffix, callers) \
int32_t lc_adapt_cudaGetDriverEntryPoint##suffix##_##callers##_by_version(void *symbol, \
		void *function, uint64_t flags, void *query) \
{ \
	return lc_slots.cudaGetDriverEntryPointByVersion##suffix(symbol, function, \
		newest_of(callers), flags, query); \
}

#define RUNTIME_ASKED_11(suffix) \
int32_t lc_adapt_cudaGetDriverEntryPoint##suffix##_11_by_version(void *symbol, void *function, \
								 uint64_t flags) \
{ \
	int32_t query = QUERY_FOUND; \
	int32_t error = lc_slots.cudaGetDriverEntryPointByVersion##suffix(symbol, function, \
		newest_of(11), flags, &query); \
\
	return told_by_error(LC_SLOT_cudaGetDriverEntryPoint##suffix##_11, error, query); \
}

#define ENTRY_POINTS(suffix, by_default) \
RUNTIME_ASKED_11(suffix) \
RUNTIME_ASKED(suffix, 12) \
RUNTIME_ASKED(suffix, 13) \
ENTRY_POINT_11(suffix, by_default, driver_of_12) \
ENTRY_POINT(suffix, by_default, 12, driver_of_11) \
ENTRY_POINT(suffix, by_default, 13, driver_of_11) \
ENTRY_POINT(suffix, by_default, 13, driver_of_12) \
BY_VERSION(suffix, by_default, driver_of_11) \
BY_VERSION(suffix, by_default, driver_of_12)
ENTRY_POINTS(, DEFAULT_STREAM)
ENTRY_POINTS(_ptsz, PER_THREAD)

/* --- functions that a runtime lacks and the driver has --- */

#define NO_FUNCTION "neither this CUDA nor this driver has such a function"
#define DRIVER_FAILED "so says the driver's function, which stands in for this CUDA's"

/* Returns the driver's function as of `version`, or NULL. */
static void *function_of(const struct driver_lookup *driver, char *symbol, uint32_t version,
			 uint64_t flags)
{
	void *function = NULL;
	int32_t query = QUERY_FOUND;

	return find_driver_function(driver, symbol, &function, version, flags, &query) || query ? NULL : function;
}

static int32_t failed(unsigned slot, int32_t error)
{
	return error ? lc_refuse_with(slot, LC_REFUSED, error, DRIVER_FAILED) : 0;
}

/* 12.0 added cudaStreamGetId().  `look` asks the runtime about the stream first: that makes the
 * runtime's context current, as the function itself would. */
static int32_t stream_id(unsigned slot, int32_t (*look)(void *, void *), uint64_t streams,
			 void *stream, void *id)
{
	struct driver_lookup driver = { 0 };
	int32_t (*get)(void *, void *), error = driver_of_11(&driver);
	uint32_t flags;

	if (!error)
		error = look(stream, &flags);
	if (error)
		return error;
	get = function_of(&driver, "cuStreamGetId", 12000, streams);
	if (get)
		return failed(slot, id ? get(stream, id) : LC_INVALID_VALUE);
	if (id)
		memset(id, 0, sizeof(uint64_t));
	return lc_refuse_because(slot, LC_REFUSED, NO_FUNCTION);
}

/* 12.8 added cudaStreamGetDevice().  The driver and the runtime number devices alike. */
static int32_t stream_device(unsigned slot, int32_t (*start)(struct driver_lookup *),
			     int32_t (*look)(void *, void *), uint64_t streams, void *stream,
			     void *device)
{
	struct driver_lookup driver = { 0 };
	int32_t error = start(&driver);
	int32_t (*context_of)(void *, void *), (*push)(void *), (*get)(void *), (*pop)(void *);
	uint32_t flags;
	void *context;

	if (!error)
		error = look(stream, &flags);
	if (error)
		return error;
	context_of = function_of(&driver, "cuStreamGetCtx", 11070, streams);
	push = function_of(&driver, "cuCtxPushCurrent", 11070, DEFAULT_STREAM);
	get = function_of(&driver, "cuCtxGetDevice", 11070, DEFAULT_STREAM);
	pop = function_of(&driver, "cuCtxPopCurrent", 11070, DEFAULT_STREAM);
	if (!context_of || !push || !get || !pop) {
		if (device)
			memset(device, 0, sizeof(int32_t));
		return lc_refuse_because(slot, LC_REFUSED, NO_FUNCTION);
	}
	error = device ? context_of(stream, &context) : LC_INVALID_VALUE;
	if (!error)
		error = push(context);
	if (!error) {
		error = get(device);
		pop(&context);
	}
	return failed(slot, error);
}

#define STREAMS(suffix, streams) \
int32_t lc_adapt_cudaStreamGetId##suffix(void *stream, void *id) \
{ \
	return stream_id(LC_SLOT_cudaStreamGetId##suffix, lc_slots.cudaStreamGetFlags##suffix, \
			 streams, stream, id); \
} \
\
int32_t lc_adapt_cudaStreamGetDevice##suffix##_by_driver_of_11(void *stream, void *device) \
{ \
	return stream_device(LC_SLOT_cudaStreamGetDevice##suffix, driver_of_11, \
			     lc_slots.cudaStreamGetFlags##suffix, streams, stream, device); \
} \
\
int32_t lc_adapt_cudaStreamGetDevice##suffix##_by_driver_of_12(void *stream, void *device) \
{ \
	return stream_device(LC_SLOT_cudaStreamGetDevice##suffix, driver_of_12, \
			     lc_slots.cudaStreamGetFlags##suffix, streams, stream, device); \
}
STREAMS(, DEFAULT_STREAM)
STREAMS(_ptsz, PER_THREAD)

/*
 * For making another device current while CUDA 11 is called.  The context that is current for the
 * thread may be one that the runtime did not create.
 */
struct elsewhere {
	int32_t device;			/* the thread's */
	bool away;
	void *context;			/* the one that was current, or NULL */
	int32_t (*set)(void *);		/* cuCtxSetCurrent() */
};

static int32_t go(struct elsewhere *from, int32_t device)
{
	int32_t (*get)(void *) = NULL, error;

	*from = (struct elsewhere){ 0 };
	error = lc_slots.cudaGetDevice(&from->device);
	if (error || from->device == device)
		return error;
	error = lc_slots.cudaGetDriverEntryPoint_11("cuCtxGetCurrent", &get, DEFAULT_STREAM);
	if (!error)
		error = lc_slots.cudaGetDriverEntryPoint_11("cuCtxSetCurrent", &from->set,
							    DEFAULT_STREAM);
	if (!error && get && from->set)
		error = get(&from->context);
	if (!error)
		error = lc_slots.cudaSetDevice(device);
	from->away = !error;
	return error;
}

static void come_back(const struct elsewhere *from)
{
	if (from->away)
		lc_slots.cudaSetDevice(from->device);
	if (from->away && from->context)
		from->set(from->context);
}

/* 12.0 added cudaInitDevice(), whose only flag says that device_flags counts. */
enum { FLAGS_ARE_VALID = 1 };

int32_t lc_adapt_cudaInitDevice(int32_t device, uint32_t device_flags, uint32_t flags)
{
	struct elsewhere from;
	int32_t error;

	if (flags & ~(uint32_t)FLAGS_ARE_VALID)
		return LC_FAIL(cudaInitDevice, LC_INVALID_VALUE, "there are no such flags");
	error = go(&from, device);
	if (error)
		return error;
	if (flags)
		error = lc_slots.cudaSetDeviceFlags(device_flags);
	if (!error)
		error = lc_slots.cudaFree(NULL);
	come_back(&from);
	return error;
}

/* 12.8 added cudaKernelSetAttributeForDevice().  In CUDA 11 the host function is the kernel's
 * handle (functions.c), and in 12 the handle is the driver's. */
int32_t lc_adapt_cudaKernelSetAttributeForDevice_by_driver_of_11(void *kernel, int32_t attribute,
								 int32_t value, int32_t device)
{
	struct elsewhere from;
	int32_t error = go(&from, device);

	if (error)
		return error;
	error = lc_slots.cudaFuncSetAttribute(kernel, attribute, value);
	come_back(&from);
	return error;
}

int32_t lc_adapt_cudaKernelSetAttributeForDevice_by_driver_of_12(void *kernel, int32_t attribute,
								 int32_t value, int32_t device)
{
	struct driver_lookup driver = { 0 };
	int32_t (*set)(int32_t, int32_t, void *, int32_t), error = driver_of_12(&driver);

	if (error)
		return error;
	set = function_of(&driver, "cuKernelSetAttribute", 12000, DEFAULT_STREAM);
	if (!set)
		return LC_REFUSE(cudaKernelSetAttributeForDevice, NO_FUNCTION);
	return failed(LC_SLOT_cudaKernelSetAttributeForDevice,
		      kernel ? set(attribute, value, kernel, device) : LC_INVALID_VALUE);
}

/* 12.0 removed cudaProfilerInitialize(); the driver has what it called. */
static int32_t initialize_profiler(const struct driver_lookup *driver, void *configuration,
				   void *output, int32_t mode)
{
	int32_t (*initialize)(void *, void *, int32_t), error = lc_slots.cudaFree(NULL);

	if (error)
		return error;
	initialize = function_of(driver, "cuProfilerInitialize", 11070, DEFAULT_STREAM);
	if (!initialize)
		return LC_REFUSE(cudaProfilerInitialize, NO_FUNCTION);
	return failed(LC_SLOT_cudaProfilerInitialize, initialize(configuration, output, mode));
}

int32_t lc_adapt_cudaProfilerInitialize_by_driver_of_12(void *configuration, void *output,
							int32_t mode)
{
	struct driver_lookup driver = { 0 };
	int32_t error = driver_of_12(&driver);

	return error ? error : initialize_profiler(&driver, configuration, output, mode);
}

int32_t lc_adapt_cudaProfilerInitialize_by_version(void *configuration, void *output, int32_t mode)
{
	struct driver_lookup driver = { .get = lc_slots.cudaGetDriverEntryPointByVersion };

	return initialize_profiler(&driver, configuration, output, mode);
}
