# SPDX-License-Identifier: MIT
# Where a breakpoint on a function stops, with what called it there, and where "finish" ends.
set print address off
set print frame-arguments none
set breakpoint pending on
break cudaMalloc
commands
backtrace
end
run
finish
backtrace
continue
