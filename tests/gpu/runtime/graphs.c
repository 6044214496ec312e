/* SPDX-License-Identifier: MIT */
/* graphs.c - capture, all forms of instantiation, update, edges, attributes of nodes */
#include "code.h"

enum { COUNT = 256 };

static int *memory;
static cudaStream_t stream;

/* Two kernels one after the other: each adds `amount`. */
static int capture(int amount, cudaGraph_t *graph)
{
	return (int)cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) ?:
	       launch_add(memory, COUNT, amount, stream) ?:
	       launch_add(memory, COUNT, amount, stream) ?:
	       (int)cudaStreamEndCapture(stream, graph);
}

/* The way in which headers of this major write it. */
static int instantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
#if CUDART_VERSION >= 12000
	return (int)cudaGraphInstantiate(exec, graph, 0);
#else
	return (int)cudaGraphInstantiate(exec, graph, NULL, NULL, 0);
#endif
}

static int update(cudaGraphExec_t exec, cudaGraph_t graph, int *outcome)
{
#if CUDART_VERSION >= 12000
	cudaGraphExecUpdateResultInfo info = { 0 };
	int result = (int)cudaGraphExecUpdate(exec, graph, &info);

	*outcome = (int)info.result;
#else
	enum cudaGraphExecUpdateResult info = (enum cudaGraphExecUpdateResult)99;
	cudaGraphNode_t node = NULL;
	int result = (int)cudaGraphExecUpdate(exec, graph, &node, &info);

	*outcome = (int)info;
#endif
	return result;
}

static void run(const char *key, cudaGraphExec_t exec)
{
	int got[COUNT];

	DO(cudaMemset(memory, 0, sizeof(got)));
	DO(cudaGraphLaunch(exec, stream));
	DO(cudaGraphLaunch(exec, stream));
	DO(cudaStreamSynchronize(stream));
	DO(cudaMemcpy(got, memory, sizeof(got), cudaMemcpyDeviceToHost));
	value(key, "%d %d", got[0], got[COUNT - 1]);
}

static void instantiated(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	size_t nodes = 0;

	DO(capture(3, &graph));
	DO(cudaGraphGetNodes(graph, NULL, &nodes));
	value("nodes", "%zu", nodes);
	DO(instantiate(&exec, graph));
	run("plain", exec);
	DO(cudaGraphExecDestroy(exec));
	DO(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	run("with-flags", exec);
	DO(cudaGraphExecDestroy(exec));
	DO(cudaGraphDestroy(graph));
}

static void with_parameters(void)
{
#if CUDART_VERSION >= 12000
	cudaGraphInstantiateParams parameters;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	DO(capture(4, &graph));
	memset(&parameters, 0, sizeof(parameters));
	DO(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
	value("result", "%d", (int)parameters.result_out);
	run("values", exec);
	DO(cudaGraphExecDestroy(exec));
	DO(cudaGraphDestroy(graph));
#endif
}

static void updated(void)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph, other, empty;
	int outcome = -1;

	DO(capture(1, &graph));
	DO(capture(10, &other));
	DO(cudaGraphCreate(&empty, 0));
	DO(instantiate(&exec, graph));
	run("before", exec);
	DO(update(exec, other, &outcome));
	value("outcome", "%d", outcome);
	run("after", exec);
	RESULT("another-shape", update(exec, empty, &outcome));
	value("another-shape-outcome", "%d", outcome);
	cudaGetLastError();
	DO(cudaGraphExecDestroy(exec));
	DO(cudaGraphDestroy(graph));
	DO(cudaGraphDestroy(other));
	DO(cudaGraphDestroy(empty));
}

#if CUDART_VERSION >= 13000
#define ADD_EDGES(graph, from, to, n) cudaGraphAddDependencies(graph, from, to, NULL, n)
#define REMOVE_EDGES(graph, from, to, n) cudaGraphRemoveDependencies(graph, from, to, NULL, n)
#define GET_EDGES(graph, from, to, n) cudaGraphGetEdges(graph, from, to, NULL, n)
#define NEEDS(node, nodes, n) cudaGraphNodeGetDependencies(node, nodes, NULL, n)
#define NEEDED_BY(node, nodes, n) cudaGraphNodeGetDependentNodes(node, nodes, NULL, n)
#define ADD_WITH_DATA cudaGraphAddDependencies
#define GET_WITH_DATA cudaGraphGetEdges
#else
#define ADD_EDGES cudaGraphAddDependencies
#define REMOVE_EDGES cudaGraphRemoveDependencies
#define GET_EDGES cudaGraphGetEdges
#define NEEDS cudaGraphNodeGetDependencies
#define NEEDED_BY cudaGraphNodeGetDependentNodes
#define ADD_WITH_DATA cudaGraphAddDependencies_v2
#define GET_WITH_DATA cudaGraphGetEdges_v2
#endif

static void edges(void)
{
	cudaGraphNode_t nodes[3], from[4], to[4];
	cudaGraph_t graph;
	size_t count = 4, needs = 9, needed = 9;

	DO(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < 3; i++)
		DO(cudaGraphAddEmptyNode(&nodes[i], graph, NULL, 0));
	DO(ADD_EDGES(graph, nodes, nodes + 1, 2));
	DO(GET_EDGES(graph, from, to, &count));
	value("count", "%zu", count);
	is_right("first", count == 2 && ((from[0] == nodes[0] && to[0] == nodes[1]) ||
					 (from[1] == nodes[0] && to[1] == nodes[1])));
	DO(NEEDS(nodes[2], NULL, &needs));
	DO(NEEDED_BY(nodes[0], NULL, &needed));
	value("around", "%zu %zu", needs, needed);
	DO(REMOVE_EDGES(graph, nodes, nodes + 1, 1));
	DO(GET_EDGES(graph, NULL, NULL, &count));
	value("removed", "%zu", count);
	RESULT("twice", ADD_EDGES(graph, nodes + 1, nodes + 2, 1));
	cudaGetLastError();
	DO(cudaGraphDestroy(graph));
}

/* A node that adds. */
static int add_kernel(cudaGraph_t graph, unsigned threads, int amount, cudaGraphNode_t *node)
{
	int n = COUNT;
	void *arguments[] = { &memory, &n, &amount };
	struct cudaKernelNodeParams parameters = {
		.func = &add, .gridDim = { 1, 1, 1 }, .blockDim = { threads, 1, 1 }, .kernelParams = arguments,
	};

	return (int)cudaGraphAddKernelNode(node, graph, NULL, 0, &parameters);
}

/* What an edge carries, since 12.3: here that a kernel may begin before another ends. */
static void edge_data(void)
{
#if CUDART_VERSION >= 12030
	cudaGraphEdgeData data, got[4];
	cudaGraphNode_t nodes[2], from[4], to[4];
	cudaGraph_t graph;
	size_t count = 4;

	if (attribute(75) < 9) {	/* computeCapabilityMajor */
		printf("- edge_data the device is older than sm_90\n");
		return;
	}
	DO(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < 2; i++)
		DO(add_kernel(graph, 1, 2, &nodes[i]));
	memset(&data, 0, sizeof(data));
	data.from_port = cudaGraphKernelNodePortProgrammatic;
	data.type = cudaGraphDependencyTypeProgrammatic;
	DO(ADD_WITH_DATA(graph, nodes, nodes + 1, &data, 1));
	memset(got, 0xa5, sizeof(got));
	DO(GET_WITH_DATA(graph, from, to, got, &count));
	value("count", "%zu", count);
	value_bytes("data", got, sizeof(*got));
	RESULT("without", GET_EDGES(graph, from, to, &count));
	cudaGetLastError();
	DO(cudaGraphDestroy(graph));
#endif
}

static void kernel_nodes(void)
{
	struct cudaKernelNodeParams got;
	union cudaLaunchAttributeValue attribute_value;
	enum cudaGraphNodeType type;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	DO(cudaGraphCreate(&graph, 0));
	DO(add_kernel(graph, COUNT, 7, &node));
	DO(cudaGraphNodeGetType(node, &type));
	value("type", "%d", (int)type);
	memset(&got, 0, sizeof(got));
	DO(cudaGraphKernelNodeGetParams(node, &got));
	value("parameters", "%u %u %u %s", got.gridDim.x, got.blockDim.x, got.sharedMemBytes,
	      got.func == (void *)&add ? "same" : "another");
	memset(&attribute_value, 0, sizeof(attribute_value));
	attribute_value.priority = -1;
	DO(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &attribute_value));
	memset(&attribute_value, 0, sizeof(attribute_value));
	DO(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &attribute_value));
	value("priority", "%d", attribute_value.priority);
	DO(instantiate(&exec, graph));
	run("values", exec);
	DO(cudaGraphExecDestroy(exec));
	DO(cudaGraphDestroy(graph));
}

int main(void)
{
	begin();
	if (cudaStreamCreate(&stream) || cudaMalloc((void **)&memory, COUNT * sizeof(int)))
		skip("no stream or no memory");
	/* A kernel may be loaded by its first launch, and loading is not for a stream that captures. */
	part = "loaded";
	RESULT("launch", launch_add(memory, 0, 0, stream) ?: (int)cudaStreamSynchronize(stream));
	RUN(instantiated);
	RUN(with_parameters);
	RUN(updated);
	RUN(edges);
	RUN(edge_data);
	RUN(kernel_nodes);
	return finish();
}
