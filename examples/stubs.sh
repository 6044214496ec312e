#!/bin/bash
# SPDX-License-Identifier: MIT
# Stubs of seven libraries, each with what `lazycuda stub` prints of it.  In a clone, after `make`:
#
#	tools/upkeep/fetch.py --table tools/upkeep/libraries.txt build/libraries cu12 cu13
#	make libclang
#	cd build/libraries && PATH=$PWD/../bin:$PATH bash ../../examples/stubs.sh
set -e

A=cu12/x86_64/nvidia
B=cu13/x86_64/nvidia/cu13
runtime="--include $A/cuda_runtime/include --include $A/cuda_nvcc/include"
clang="--libclang ../libclang/clang/native/libclang.so"

# libcublas.so.12 (CUDA 12): 736 functions, 729 with a prototype
# libcublas.so.13 (CUDA 13): 746 functions, 737 with a prototype
lazycuda stub $clang --missing CUBLAS_STATUS_NOT_INITIALIZED \
	--header cublas_v2.h --header cublasXt.h --header cublas.h \
	--from $A/cublas/lib/libcublas.so.12=12 --include $A/cublas/include $runtime \
	--from $B/lib/libcublas.so.13=13 --include $B/include -o cublas

# libcufft.so.11 (CUDA 12): 58 functions, 53 with a prototype
lazycuda stub $clang --missing CUFFT_SETUP_FAILED --header cufftXt.h \
	--from $A/cufft/lib/libcufft.so.11=12 --include $A/cufft/include $runtime -o cufft

# libcusolver.so.11: 939 functions, 463 with a prototype
lazycuda stub $clang --missing CUSOLVER_STATUS_NOT_INITIALIZED \
	--header cusolverDn.h --header cusolverSp.h --header cusolverRf.h \
	--from $A/cusolver/lib/libcusolver.so.11 --include $A/cusolver/include \
	--include $A/cublas/include --include $A/cusparse/include $runtime -o cusolver

# libcusparse.so.12: 421 functions, 421 with a prototype
lazycuda stub $clang --missing CUSPARSE_STATUS_NOT_INITIALIZED --header cusparse.h \
	--from $A/cusparse/lib/libcusparse.so.12 --include $A/cusparse/include $runtime \
	--folder nvidia/cu13/lib -o cusparse

# libcurand.so.10: 27 functions, 27 with a prototype
lazycuda stub $clang --missing CURAND_STATUS_NOT_INITIALIZED --header curand.h \
	--from $A/curand/lib/libcurand.so.10 --include $A/curand/include $runtime \
	--from $B/lib/libcurand.so.10 --include $B/include -o curand

# libcudnn.so.9: 222 functions, 218 with a prototype
lazycuda stub $clang --missing CUDNN_STATUS_NOT_INITIALIZED --header cudnn.h \
	--from $A/cudnn/lib/libcudnn.so.9 --include $A/cudnn/include $runtime -o cudnn

# libnccl.so.2: 62 functions, 62 with a prototype
lazycuda stub $clang --missing ncclSystemError --header nccl.h --text ncclGetLastError \
	--from $A/nccl/lib/libnccl.so.2 --include $A/nccl/include $runtime -o nccl
