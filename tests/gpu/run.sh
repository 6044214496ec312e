#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [CLAIM...]	what only a device can show, on this machine: docs/gpu.md
#
# Every line is a claim that passed, failed or was skipped, and why; the last line is
# "N passed, N failed, N skipped".  Status 1 if something failed.  It needs a libc, a
# driver and sh: nothing here calls another program than those in bin.

case $0 in */*) cd "${0%/*}" || exit 2 ;; esac
LAZYCUDA_GPU=$(pwd -P)
export LAZYCUDA_GPU
# What is set for programs of this user's is not for these.
unset LAZYCUDA_CUDART LAZYCUDA_NVRTC LAZYCUDA_NVJITLINK LAZYCUDA_MAJOR LAZYCUDA_GUARD \
	LAZYCUDA_DEBUG CUDA_MODULE_LOADING
set -f
newline='
'
wanted=" $* "
passed=0 failed=0 skipped=0
works=		# runtimes of which something passed, and `driver'

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

# $2: lines of judge, of which there have to be $1.  Returns 0 if one of them passed.
tally()
{
	tally_left=$1 tally_status=1
	IFS=$newline
	for line in $2; do
		case $line in
		"pass "* | "fail "* | "skip "*) tally_left=$((tally_left - 1)) ;;
		*) line="fail $3: what judges said: $line" ;;
		esac
		case $line in pass*) tally_status=0 ;; esac
		count "$line"
	done
	unset IFS
	if [ "$tally_left" != 0 ]; then
		count "fail $3: $tally_left results are missing"
	fi
	return $tally_status
}

# A program that checks itself may skip where what it needs was seen not to work: $1.
tally_alone()
{
	case $2:$works in
	"skip "*:*" $1 "*) set -- "$1" "fail ${2#skip } (but there is a device)" "$3" ;;
	esac
	tally 1 "$2" "$3"
}

cudart()
{
	case $1 in
	11.*) echo "$LAZYCUDA_GPU/cuda/$1/libcudart.so.11.0" ;;
	*) echo "$LAZYCUDA_GPU/cuda/$1/libcudart.so.${1%%.*}" ;;
	esac
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
	echo 'exec "$LAZYCUDA_GPU/bin/'"$2/$1.$3"'"' \
		'"$LAZYCUDA_GPU/bin/'"$2/plugin-a.$3.so"'" "$LAZYCUDA_GPU/bin/'"$2/plugin-b.$3.so"'"'
}

through()	# $1: program, $2: the caller's major, $3: version of the runtime
{
	in_folder lib "LAZYCUDA_CUDART='$(cudart "$3")' $(program "$1" "$2" stub)"
}

same()		# $1: the caller's major, $2: version of the runtime
{
	[ "$1" = "${2%%.*}" ] && echo same || echo other
}

# $1: claim, which is a program's name; $2: seconds; $3: EAGER or LAZY, or nothing
runtime()
{
	is_wanted "$1" || return
	load=${3:+export CUDA_MODULE_LOADING=$3;}
	for version in 11.8 12.9 13.5; do
		name="$1${3:+ $3}: on $version, caller"
		if ! [ -e "$(cudart $version)" ]; then
			count "skip $name 11, 12 and 13: the bundle has no cudart $version"
			continue
		fi
		lines=$(bin/judge "$2" "$(cudart $version)" \
			"$load $(in_folder cuda/$version "$(program "$1" ${version%%.*} direct)")" \
			"$name 11" "$(same 11 $version)" "$load $(through "$1" 11 $version)" \
			"$name 12" "$(same 12 $version)" "$load $(through "$1" 12 $version)" \
			"$name 13" "$(same 13 $version)" "$load $(through "$1" 13 $version)")
		tally 3 "$lines" "$1 on $version" && works="$works $version "
	done
}

# $1: claim, $2: seconds, $3: the library that has to be there
driver()
{
	is_wanted "$1" || return
	if ! why=$(bin/there "$3"); then
		count "skip $1: no driver: $why"
		return
	fi
	lines=$(bin/judge "$2" "" 'exec "$LAZYCUDA_GPU/bin/driver/'"$1.direct"'"' "$1" same \
		"$(in_folder lib 'exec "$LAZYCUDA_GPU/bin/driver/'"$1.stub"'"')")
	tally 1 "$lines" "$1" && works="$works driver "
}

dispatch()
{
	is_wanted dispatch || return
	export LAZYCUDA_NVJITLINK="$LAZYCUDA_GPU/cuda/12.9/libnvJitLink.so.12"
	lines=$(bin/judge 120 "" - dispatch same "$(in_folder lib \
		'exec "$LAZYCUDA_GPU/bin/driver/link" "$LAZYCUDA_GPU/code"')")
	tally_alone driver "$lines" dispatch
	unset LAZYCUDA_NVJITLINK
}

# $1: the caller's major, $2: version of the runtime
figures()
{
	is_wanted figures || return
	name="figures: on $2, caller $1"
	if ! [ -e "$(cudart "$2")" ]; then
		count "skip $name: the bundle has no cudart $2"
		return
	fi
	lines=$(bin/judge 120 "$(cudart "$2")" - "$name" same "$(in_folder lib \
		"LAZYCUDA_CUDART='$(cudart "$2")' exec \"\$LAZYCUDA_GPU/bin/$1/figures.stub\" '$(cudart "$2")'")")
	tally_alone "$2" "$lines" "$name"
}

refusals()
{
	is_wanted refusals || return
	name="refusals: on 11.8, caller 13"
	if ! [ -e "$(cudart 11.8)" ]; then
		count "skip $name: the bundle has no cudart 11.8"
		return
	fi
	lines=$(bin/judge 60 "$(cudart 11.8)" - "$name" same "$(through refusals 13 11.8)")
	tally_alone 11.8 "$lines" "$name"
}

first()		# $1: version
{
	is_wanted first || return
	name="first: on $1, caller ${1%%.*}"
	if ! [ -e "$(cudart "$1")" ]; then
		count "skip $name: the bundle has no cudart $1"
		return
	fi
	LAZYCUDA_GPU_STUB=$(through one "${1%%.*}" "$1")
	LAZYCUDA_GPU_DIRECT=$(in_folder "cuda/$1" "$(program one "${1%%.*}" direct)")
	export LAZYCUDA_GPU_STUB LAZYCUDA_GPU_DIRECT
	lines=$(bin/judge 120 "" - "$name" same \
		'exec bin/first "$LAZYCUDA_GPU_STUB" "$LAZYCUDA_GPU_DIRECT"')
	tally_alone "$1" "$lines" "$name"
}

runtime properties 60
runtime memory 60
runtime streams 60
runtime pools 60
runtime code 60 LAZY
runtime code 60 EAGER
runtime plugins 60
runtime errors 60
refusals
driver context 60 libcuda.so.1
driver names 60 libcuda.so.1
driver nvml 60 libnvidia-ml.so.1
dispatch
runtime graphs 60
runtime managed 60
runtime textures 60
runtime processes 60
figures 12 13.5
figures 12 12.9
figures 13 13.5
first 11.8
first 12.9
first 13.5
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
