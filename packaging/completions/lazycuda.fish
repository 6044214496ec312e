# SPDX-License-Identifier: MIT
# fish completion for lazycuda(1): what it offers is what the command's own --help says.

function __lazycuda_commands
    lazycuda --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __lazycuda_options
    set -l words (commandline -opc)
    lazycuda $words[2] --help 2>/dev/null |
        grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z-]*' | grep -oE -- '--.*' | sort -u
end

complete -c lazycuda -n '__fish_is_nth_token 1' -f -a '(__lazycuda_commands)'
complete -c lazycuda -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__lazycuda_options)'
complete -c lazycuda -n '__fish_seen_subcommand_from status' -f -a 'cudart nvrtc nvJitLink cuda nvml'
