/* SPDX-License-Identifier: MIT */
/*
 * known.h - whose a library is, by its name: the one list of audit, and of retarget as known.py
 *
 * Names are without "lib" and all from ".so" on; a * stands for any letters.
 */

/* NVIDIA's for CUDA, beside those of libraries/ and symbols.txt. */
static const char *const known_cudas[] = {
	"OpenCL", "accinj64", "cal", "checkpoint", "cublasMp", "cublasmp", "cudadebugger", "cudensitymat*",
	"cudla", "cudnn_*", "cudss*", "cufftMp", "cufile_*", "cufilt", "cuinj64", "cuobjclient*",
	"cupauliprop*", "cusolverMp", "custabilizer*", "custatevec*", "cutensorMp", "cutensornet*", "mathdx",
	"nccl-*", "ncclras", "nvblas", "nvcaffe_parser*", "nvcomp*", "nvcudla", "nvcuvid", "nvgraph",
	"nvidia-*", "nvimgcodec*", "nvinfer*", "nvjpeg2k*", "nvonnxparser*", "nvoptix*", "nvparsers*",
	"nvperf_*", "nvptxcompiler*", "nvrtc-builtins*", "nvshmem*", "nvtiff*", "nvtx3interop",
	"pcsamplingutil",
};

/* What manylinux lets a wheel need, and what comes with a compiler. */
static const char *const known_systems[] = {
	"GL", "ICE", "SM", "X11", "Xext", "Xrender", "anl", "atomic", "c", "crypt", "dl", "expat", "gcc_s",
	"gfortran", "glib-2.0", "gobject-2.0", "gomp", "gthread-2.0", "ld-linux*", "m", "mvec", "nsl",
	"pthread", "quadmath", "resolv", "rt", "stdc++", "util", "z",
};

/* Others that define no function of CUDA's, so that a file has none through them. */
static const char *const known_others[] = {
	"curl", "efa", "ffi", "gdrapi", "hwloc", "ibverbs", "iomp5", "jpeg", "mkl_*", "mlx5", "mpi", "mpi_*",
	"mpicxx", "mpifort", "numa", "omp", "open-pal", "open-rte", "openblas*", "pmix", "png16", "python3*",
	"rdmacm", "tbb",
};

/* What libraries need in turn: whoever needs the first has the functions of the others, too. */
static const char *const known_in_turn[][2] = {
	{ "cublas", "cublasLt" },
	{ "cublasMp", "cublas cublasLt nccl" },
	{ "cublasmp", "cublas cublasLt nccl" },
	{ "cudensitymat", "cutensornet cutensor cusolver cublasLt cublas curand cusparse nvJitLink" },
	{ "cudss", "cublas cublasLt" },
	{ "cufftMp", "nvshmem_host" },
	{ "cufftw", "cufft" },
	{ "cusolver", "cublas cublasLt cusparse nvJitLink" },
	{ "cusolverMg", "cublas cublasLt" },
	{ "cusparse", "nvJitLink" },
	{ "custatevec", "cublas cublasLt" },
	{ "cutensor", "cublasLt" },
	{ "cutensorMg", "cutensor cublasLt" },
	{ "cutensornet", "cutensor cublas cusolver" },
	{ "nppial", "nppc" }, { "nppicc", "nppc" }, { "nppidei", "nppc" }, { "nppif", "nppc" },
	{ "nppig", "nppc" }, { "nppim", "nppc" }, { "nppist", "nppc" }, { "nppisu", "nppc" },
	{ "nppitc", "nppc" }, { "npps", "nppc" },
	{ "nvblas", "cublas cublasLt" },
};
