#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [CLAIM...]	what only a device can show, on this machine: docs/reference/gpu.md
#
# Every line is a claim that passed, failed or was skipped, and why; the last line is
# "N passed, N failed, N skipped".  Status 1 if something failed.  It needs a libc, a
# driver and sh: nothing here calls another program than those in bin.

case $0 in */*) cd "${0%/*}" || exit 2 ;; esac
LAZYCUDA_GPU=$(pwd -P)
export LAZYCUDA_GPU
# What is set for programs of this user's is not for these.
unset LAZYCUDA_CUDART LAZYCUDA_NVRTC LAZYCUDA_NVJITLINK LAZYCUDA_CUDA LAZYCUDA_NVML \
	LAZYCUDA_MAJOR LAZYCUDA_GUARD LAZYCUDA_DEBUG LAZYCUDA_CONSTRAINT \
	LAZYCUDA_FORWARD_COMPATIBLE CUDA_MODULE_LOADING CUDA_LAUNCH_BLOCKING
set -f
newline='
'
wanted=" $* "
passed=0 failed=0 skipped=0

is_wanted()
{
	case $wanted in "  " | *" $1 "*) return 0 ;; esac
	return 1
}

count()
{
	case $1 in
	pass*) passed=$((passed + 1)) ;;
	skip*) skipped=$((skipped + 1)) ;;
	*) failed=$((failed + 1)) ;;
	esac
	printf '%s\n' "$1"
}

# $2: lines of judge, of which there have to be $1
tally()
{
	tally_left=$1
	IFS=$newline
	for line in $2; do
		case $line in
		"pass "* | "fail "* | "skip "*) tally_left=$((tally_left - 1)) ;;
		*) line="fail $3: what judges said: $line" ;;
		esac
		count "$line"
	done
	unset IFS
	if [ "$tally_left" != 0 ]; then
		count "fail $3: $tally_left results are missing"
	fi
}

cudart_file()
{
	case $1 in
	11.*) echo "cuda/$1/libcudart.so.11.0" ;;
	*) echo "cuda/$1/libcudart.so.${1%%.*}" ;;
	esac
}

cudart()
{
	echo "$LAZYCUDA_GPU/$(cudart_file "$1")"
}

# In a command: the name of the folder may have anything in it.
cudart_word()
{
	echo '"$LAZYCUDA_GPU/'"$(cudart_file "$1")"'"'
}

# $1: a version, where the library is; $2: stub or direct; the rest: a command
in_folder()
{
	echo 'LD_LIBRARY_PATH="$LAZYCUDA_GPU/'"$1"'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"' \
		'export LD_LIBRARY_PATH;' "$2"
}

# $1: program, $2: its major, $3: stub or direct
program()
{
	set -- "$1" "$3" '"$LAZYCUDA_GPU/bin/'"$2"
	echo "exec $3/$1.$2\" $3/plugin-a.$2.so\" $3/plugin-b.$2.so\""
}

# $1: program, $2: the caller's major, $3: version of the runtime
through()
{
	in_folder lib "LAZYCUDA_CUDART=$(cudart_word "$3") $(program "$1" "$2" stub)"
}

# $1: version, $2: how the line begins
has_cudart()
{
	if ! [ -e "$(cudart "$1")" ]; then
		count "skip $2: the bundle has no cudart $1"
	elif ! why=$(bin/judge there "$(cudart "$1")" 2>&1); then
		count "skip $2: cudart $1 cannot be loaded here: $why"
	else
		return 0
	fi
	return 1
}

same()		# $1: the caller's major, $2: version of the runtime
{
	[ "$1" = "${2%%.*}" ] && echo same || echo other
}

# $1: claim and program; $2: seconds; $3: EAGER or LAZY, or nothing
runtime()
{
	is_wanted "$1" || return
	load=${3:+export CUDA_MODULE_LOADING=$3;}
	for version in 11.8 12.9 13.5; do
		name="$1${3:+ $3}: on $version, caller"
		has_cudart $version "$name 11, 12 and 13" || continue
		lines=$(bin/judge "$2" "$(cudart $version)" \
			"$load $(in_folder cuda/$version "$(program "$1" ${version%%.*} direct)")" \
			"$name 11" "$(same 11 $version)" "$load $(through "$1" 11 $version)" \
			"$name 12" "$(same 12 $version)" "$load $(through "$1" 12 $version)" \
			"$name 13" "$(same 13 $version)" "$load $(through "$1" 13 $version)")
		tally 3 "$lines" "$1 on $version"
	done
}

# As runtime, for what nvcc has compiled.
compiled()
{
	if is_wanted "$1" && ! [ -e bin/13/compiled.stub ]; then
		read -r why <code/no-nvcc
		count "skip $1${3:+ $3}: the bundle was made without nvcc: $why"
		return
	fi
	runtime "$@"
}

# $1: claim, $2: seconds, $3: the library that has to be there
driver()
{
	is_wanted "$1" || return
	if ! why=$(bin/judge there "$3"); then
		count "skip $1: no driver: $why"
		return
	fi
	lines=$(bin/judge "$2" "" 'exec "$LAZYCUDA_GPU/bin/driver/'"$1.direct"'"' "$1" same \
		"$(in_folder lib 'exec "$LAZYCUDA_GPU/bin/driver/'"$1.stub"'"')")
	tally 1 "$lines" "$1"
}

dispatch()
{
	is_wanted dispatch || return
	export LAZYCUDA_NVJITLINK="$LAZYCUDA_GPU/cuda/12.9/libnvJitLink.so.12"
	lines=$(bin/judge 120 "" - dispatch same "$(in_folder lib \
		'exec "$LAZYCUDA_GPU/bin/driver/link" "$LAZYCUDA_GPU/code"')")
	tally 1 "$lines" dispatch
	unset LAZYCUDA_NVJITLINK
}

# $1: the caller's major, $2: version of the runtime
figures()
{
	is_wanted figures || return
	name="figures: on $2, caller $1"
	has_cudart "$2" "$name" || return
	lines=$(bin/judge 120 "$(cudart "$2")" - "$name" same "$(in_folder lib \
		"LAZYCUDA_CUDART=$(cudart_word "$2") exec \"\$LAZYCUDA_GPU/bin/$1/figures.stub\" $(cudart_word "$2")")")
	tally 1 "$lines" "$name"
}

sum()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
}

case $LAZYCUDA_GPU in
*[:\;]*)
	count "fail bundle: its folder's name has : or ;, which end a name in LD_LIBRARY_PATH: $LAZYCUDA_GPU"
	sum
	exit
	;;
esac

# Nothing runs on a glibc that is older than the one that all was linked with.
if ! why=$(bin/judge there libc.so.6 2>&1); then
	count "fail bundle: its programs do not run here: $why"
	sum
	exit
fi

# All of it ends before a machine that is lent for ten minutes is taken back.
LAZYCUDA_GPU_UNTIL=$(bin/judge until "${LAZYCUDA_GPU_SECONDS:-450}")
export LAZYCUDA_GPU_UNTIL

runtime texts 60
runtime properties 60
runtime memory 60
runtime streams 60
runtime pools 60
runtime plugins 60
compiled compiled 60 LAZY
compiled compiled 60 EAGER
compiled per-thread 60
compiled separate 60 LAZY
compiled separate 60 EAGER
runtime errors 60
driver names 60 libcuda.so.1
driver nvml 60 libnvidia-ml.so.1
dispatch
runtime graphs 60
runtime managed 60
runtime textures 60
runtime processes 60
runtime exits 90
figures 12 13.5
figures 12 12.9
figures 13 13.5
sum
