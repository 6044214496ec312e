/* SPDX-License-Identifier: MIT */
/* graphs.c - graphs and stream capture */
#include "adaptor.h"
#include "adaptors.h"

/*
 * 12.3 gave edges data, in functions with the suffix _v2, and 13.0 dropped the
 * functions without it.  Absent or zeroed data means a plain edge; an older runtime
 * cannot express any other.
 */
static bool plain_edges(const void *data, uint64_t count)
{
	const char *bytes = data;

	for (uint64_t i = 0; bytes && i < count * LC_SIZE_cudaGraphEdgeData_A; i++)
		if (bytes[i])
			return false;
	return true;
}

/* An older runtime's edges are all plain. */
static void tell_plain_edges(void *data, uint64_t count)
{
	if (data)
		memset(data, 0, count * LC_SIZE_cudaGraphEdgeData_A);
}

#define NO_EDGE_DATA "edges carry no data in this CUDA"

int32_t lc_adapt_cudaGraphAddDependencies_11(void *graph, void *from, void *to, uint64_t count)
{
	return lc_slots.cudaGraphAddDependencies_13(graph, from, to, NULL, count);
}

int32_t lc_adapt_cudaGraphAddDependencies_13(void *graph, void *from, void *to, void *data,
					     uint64_t count)
{
	if (!plain_edges(data, count))
		return LC_REFUSE(cudaGraphAddDependencies_13, NO_EDGE_DATA);
	return lc_slots.cudaGraphAddDependencies_11(graph, from, to, count);
}

int32_t lc_adapt_cudaGraphRemoveDependencies_11(void *graph, void *from, void *to, uint64_t count)
{
	return lc_slots.cudaGraphRemoveDependencies_13(graph, from, to, NULL, count);
}

int32_t lc_adapt_cudaGraphRemoveDependencies_13(void *graph, void *from, void *to, void *data,
						uint64_t count)
{
	if (!plain_edges(data, count))
		return LC_REFUSE(cudaGraphRemoveDependencies_13, NO_EDGE_DATA);
	return lc_slots.cudaGraphRemoveDependencies_11(graph, from, to, count);
}

int32_t lc_adapt_cudaGraphAddNode_12(void *node, void *graph, void *dependencies, uint64_t count,
				     void *parameters)
{
	return lc_slots.cudaGraphAddNode_13(node, graph, dependencies, NULL, count, parameters);
}

int32_t lc_adapt_cudaGraphAddNode_13(void *node, void *graph, void *dependencies, void *data,
				     uint64_t count, void *parameters)
{
	if (!plain_edges(data, count)) {
		if (node)
			memset(node, 0, sizeof(void *));
		return LC_REFUSE(cudaGraphAddNode_13, NO_EDGE_DATA);
	}
	return lc_slots.cudaGraphAddNode_12(node, graph, dependencies, count, parameters);
}

/* 13.1 added the context that the handle is for; NULL is the current one, as it
 * always was. */
int32_t lc_adapt_cudaGraphConditionalHandleCreate_v2(void *handle, void *graph, void *context,
						     uint32_t value, uint32_t flags)
{
	if (context) {
		if (handle)
			memset(handle, 0, sizeof(uint64_t));
		return LC_REFUSE(cudaGraphConditionalHandleCreate_v2,
				 "this CUDA takes no execution context here");
	}
	return lc_slots.cudaGraphConditionalHandleCreate(handle, graph, value, flags);
}

/* Without room for data, 13 answers cudaErrorLossyQuery if an edge has some, and so
 * does 12's own function without data. */
int32_t lc_adapt_cudaGraphGetEdges_11(void *graph, void *from, void *to, void *count)
{
	return lc_slots.cudaGraphGetEdges_13(graph, from, to, NULL, count);
}

int32_t lc_adapt_cudaGraphGetEdges_13(void *graph, void *from, void *to, void *data, void *count)
{
	uint64_t room = count && from && to ? *(uint64_t *)count : 0;
	int32_t error = lc_slots.cudaGraphGetEdges_11(graph, from, to, count);

	tell_plain_edges(data, room);
	return error;
}

#define NEIGHBOURS(name) \
int32_t lc_adapt_##name##_11(void *node, void *nodes, void *count) \
{ \
	return lc_slots.name##_13(node, nodes, NULL, count); \
} \
\
int32_t lc_adapt_##name##_13(void *node, void *nodes, void *data, void *count) \
{ \
	uint64_t room = count && nodes ? *(uint64_t *)count : 0; \
	int32_t error = lc_slots.name##_11(node, nodes, count); \
\
	tell_plain_edges(data, room); \
	return error; \
}
NEIGHBOURS(cudaGraphNodeGetDependencies)
NEIGHBOURS(cudaGraphNodeGetDependentNodes)

#define CAPTURE(suffix) \
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies##suffix##_11(void *stream, void *nodes, \
		uint64_t count, uint32_t flags) \
{ \
	return lc_slots.cudaStreamUpdateCaptureDependencies##suffix##_13(stream, nodes, NULL, \
		count, flags); \
} \
\
int32_t lc_adapt_cudaStreamUpdateCaptureDependencies##suffix##_13(void *stream, void *nodes, \
		void *data, uint64_t count, uint32_t flags) \
{ \
	if (!plain_edges(data, count)) \
		return LC_REFUSE(cudaStreamUpdateCaptureDependencies##suffix##_13, NO_EDGE_DATA); \
	return lc_slots.cudaStreamUpdateCaptureDependencies##suffix##_11(stream, nodes, count, \
		flags); \
} \
\
/* 13.0 has four more outputs, each of which may be absent. */ \
int32_t lc_adapt_cudaStreamGetCaptureInfo##suffix##_11(void *stream, void *status, void *id) \
{ \
	return lc_slots.cudaStreamGetCaptureInfo##suffix##_13(stream, status, id, NULL, NULL, NULL, \
		NULL); \
} \
\
int32_t lc_adapt_cudaStreamGetCaptureInfo_v2##suffix(void *stream, void *status, void *id, \
		void *graph, void *nodes, void *count) \
{ \
	return lc_slots.cudaStreamGetCaptureInfo##suffix##_13(stream, status, id, graph, nodes, \
		NULL, count); \
} \
\
/* Before 12.3 there is no edge data to point to. */ \
int32_t lc_adapt_cudaStreamGetCaptureInfo##suffix##_13(void *stream, void *status, void *id, \
		void *graph, void *nodes, void *data, void *count) \
{ \
	if (data) \
		memset(data, 0, sizeof(void *)); \
	return lc_slots.cudaStreamGetCaptureInfo_v2##suffix(stream, status, id, graph, nodes, \
		count); \
}
LC_BOTH(CAPTURE)

/*
 * 12.0 removed the error node and the log: the node is now in the parameters of
 * cudaGraphInstantiateWithParams(), and there is no log any more.
 */
int32_t lc_adapt_cudaGraphInstantiate_11(void *exec, void *graph, void *error_node, void *log,
					 uint64_t log_size)
{
	char parameters[LC_SIZE_cudaGraphInstantiateParams_A]
		__attribute__((aligned(8))) = { 0 };
	int32_t error = lc_slots.cudaGraphInstantiateWithParams(exec, graph, parameters);

	if (error_node)
		memcpy(error_node, parameters + LC_AT_cudaGraphInstantiateParams_A_errNode_out,
		       sizeof(void *));
	if (log && log_size)
		*(char *)log = 0;
	return error;
}

/* What 12.0 calls cudaGraphInstantiate() is 11's cudaGraphInstantiateWithFlags(). */
int32_t lc_adapt_cudaGraphInstantiate_12(void *exec, void *graph, uint64_t flags)
{
	return lc_slots.cudaGraphInstantiateWithFlags(exec, graph, flags);
}

/* cudaGraphExecUpdateResult: 12.0 added a last value, which 11 calls an error. */
enum { UPDATE_ERROR = 1, UPDATE_ATTRIBUTES_CHANGED = 8 };

/* 12.0 put the two outputs into a struct, and added a third. */
int32_t lc_adapt_cudaGraphExecUpdate_11(void *exec, void *graph, void *error_node, void *result)
{
	char info[LC_SIZE_cudaGraphExecUpdateResultInfo_A] __attribute__((aligned(8))) = { 0 };
	int32_t error = lc_slots.cudaGraphExecUpdate_12(exec, graph, info);
	int32_t what = LC_FIELD(int32_t, info, LC_AT_cudaGraphExecUpdateResultInfo_A_result);

	if (what >= UPDATE_ATTRIBUTES_CHANGED)
		what = UPDATE_ERROR;
	if (error_node)
		memcpy(error_node, info + LC_AT_cudaGraphExecUpdateResultInfo_A_errorNode,
		       sizeof(void *));
	if (result)
		memcpy(result, &what, sizeof(what));
	return error;
}

int32_t lc_adapt_cudaGraphExecUpdate_12(void *exec, void *graph, void *info)
{
	void *node = NULL;
	int32_t what = 0;
	int32_t error = lc_slots.cudaGraphExecUpdate_11(exec, graph, &node, &what);

	if (info) {
		memset(info, 0, LC_SIZE_cudaGraphExecUpdateResultInfo_A);
		LC_FIELD(int32_t, info, LC_AT_cudaGraphExecUpdateResultInfo_A_result) = what;
		LC_FIELD(void *, info, LC_AT_cudaGraphExecUpdateResultInfo_A_errorNode) = node;
	}
	return error;
}
