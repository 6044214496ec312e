# SPDX-License-Identifier: MIT
# bash completion for lazycuda(1): what it offers is what the command's own --help says.

_lazycuda_words() {
	case $2 in
	-*) "$1" ${3:+"$3"} --help 2>/dev/null | grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z-]*' |
		grep -oE -- '--.*' | sort -u ;;
	*) "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' ;;
	esac
}

_lazycuda() {
	local command= word=${COMP_WORDS[COMP_CWORD]}

	[ "$COMP_CWORD" -le 1 ] || command=${COMP_WORDS[1]}
	COMPREPLY=()
	case $command:$word in
	status:[!-]* | status:) mapfile -t COMPREPLY < <(compgen -W 'cudart nvrtc nvJitLink cuda nvml' -- "$word") ;;
	:* | *:-*) mapfile -t COMPREPLY < <(
		compgen -W "$(_lazycuda_words "${COMP_WORDS[0]}" "$word" "$command")" -- "$word") ;;
	esac
}

# Else it is files.
complete -o bashdefault -o default -F _lazycuda lazycuda
