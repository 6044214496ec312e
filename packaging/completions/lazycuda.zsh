#compdef lazycuda
# SPDX-License-Identifier: MIT
# zsh completion for lazycuda(1): what it offers is what the command's own --help says.

local -a found

if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
	found=(${(f)"$($words[1] --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
	_describe command found
elif [[ $PREFIX == -* ]]; then
	local command=
	(( CURRENT == 2 )) || command=$words[2]
	found=(${(fu)"$($words[1] $command --help 2>/dev/null |
		grep -oE -- '(^|[^[:alnum:]-])--[a-z][a-z-]*' | grep -oE -- '--.*')"})
	compadd -a found
elif [[ $words[2] == status ]]; then
	compadd cudart nvrtc nvJitLink cuda nvml
else
	_files
fi
