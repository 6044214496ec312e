# SPDX-License-Identifier: MIT
"""LLVM IR of both dialects: the one of LLVM 7, with types of pointers, and the newer one."""
import base64
import zlib

HEAD = """\
; a kernel
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-\
f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"""
TAIL = """
!nvvm.annotations = !{{!0}}
!0 = !{{{kernel} @kernel, !"kernel", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 2, i32 0}}
"""
BODY = """
define void @kernel({pointer} %p, float %x) {{
  %y = call float {function}(float %x)
  %z = fdiv float %y, %x
  store float %z, {pointer} %p
  ret void
}}
declare float {function}(float)
"""


def kernel(dialect="typed", function="@__nv_sinf"):
    """A kernel that calls a function of libdevice, or another."""
    pointer = "float*" if dialect == "typed" else "ptr"
    type_of_kernel = "void (float*, float)*" if dialect == "typed" else "ptr"
    return HEAD + BODY.format(pointer=pointer, function=function) + TAIL.format(kernel=type_of_kernel)


def listed(ir, name="kernel", dialect="typed"):
    """The same with a list of what is to be kept, which has the function of this name."""
    use = f"i8* bitcast (void (float*, float)* @{name} to i8*)"
    if name != "kernel":
        use = f"i8* bitcast (float (float)* @{name} to i8*)"
    pointer = "i8*"
    if dialect != "typed":
        use, pointer = f"ptr @{name}", "ptr"
    return ir + f'@llvm.used = appending global [1 x {pointer}] [{use}], section "llvm.metadata"\n'


def helper():
    """The other function."""
    return HEAD + """
define float @helper(float %x) {
  %y = fadd float %x, %x
  ret float %y
}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
"""

# kernel(), as LLVM 14 writes it.
BITCODE = zlib.decompress(base64.b64decode(
    "eNplVH9MG1Ucf+2VvgO668HY1rq7ejfYbKabtw6hXVszenNWJbFEYzDB0CKrsLnmKLWUbjEtZbsa61IIyfoHJiXyj3/Z"
    "Jeh+kQUozro0s1uMIZEQKoUxwxbi5rLEJfquwJh6uff9vu/3fb7f+/56Z+Mn5l6pAqAEANCm4mrefP+a+4u/xr4pbwo1"
    "ypCOVQHgRZtyOQvkSN6OFgxXDzRkFG8oSYNpUNav2l2Ca3WKz9tC5Gty22C5rZ80VBlxzVtlBlvULkyz1UcqxRjZMChv"
    "z+AXqhj+aJT5UWaw9Wv26vfGD5xOtQww0xnk9zMGgC2IG3bhpUzbUcC+WJMg2d2IaF9QnRmNO23tLUxNex+jlSVkSQ6z"
    "5zRs33HGeQ6owNY9PSkYSMLTKexQB9aTEn2M6MPFOo0YZERhZr5yMadcTUL/YRh0Ql9xczJOdCUlm0BOeTcEg8VXUjph"
    "kIT+JEQbJHYzMMhBbxKiDRL/64GRPGzSnHJpAyxZIXEDLFnllI82PEufQOK/wY/+B/aGJORTenK+GF7RCsGeYxuJirnh"
    "/W9f/ekau82JerX5KLlRw6Ac31RMgJo6vOrbcgAycplSqrMuodJWNMZjpXtev67gpyr1fRUS8IIGgPOIH8RD1HSeclfJ"
    "rFHe2J+O2UKwNwC7E12qJaC+RxIPQ8RBlU03NUnfHKHcXEkRFtmZxawZ3hrDrNlAzCfAUzjstYuCAIMC5g+IAiNqsxXE"
    "SpzIc2oPp15YJVYdxEFymp5jqRmWnnLp3Nxn5vGIOcebxjDLeMTSj5mzq1V+JzzVAes7RC+iIVGIi4IT+vXQ/7gEue0J"
    "ia242KURvQmxNxF+6f4qcX+e+HOCWOGwtswIVRihskU666JusNR0mL7hUv4S500Z3pQo0ktp4xBvjGLmofTL6KNP+sw/"
    "Y+ZUWvVDpyg0i14h4uuAAafo04i+pKi9+Y76PlD/4SAKcWLhsDrPECsoC0ZPz07qphp0t1lqNqybnacKefp3mc6taTKm"
    "+EPDEXPWUbOeiFPsCcBAoqnxYVwtVUB3XHfDRS2z9Nwk/alMJwXM0qsu5btnIsZs2pziraggT6YsBd4cRWI69n0ZylTs"
    "QfHgMKiH3kS4ZYEkViaIRQfxgKuevN2gK+R3zOTpORSAXWtORaxjkZ39aWOMN2XTlkuTpkwa5WjJ2se6cIii6kIFbBa1"
    "v14nVpzqe/PKVUa9yKkXGfUjB+EhiQWOQOKDeeXdeaLgIB5z1b+tuKipMD2T37HC0kssPc3SqIPL7PNu5kvzOG+9hJmG"
    "IqZs8zjqPko2iOK0iz0CBKAX3XUazZhXZ2f4qEpb6jXYmepwbGDg1pEkqW+3HDDYzsXZrzRkGZBm9cQxr+fYxwBU4wqu"
    "L4RX4xnESDR9XJYhz8QUe/Rsvflq3Xmu/mL9Fe7KWP3Fy019u2ik+67WtOOq4fJlpGqSY9J8f43mm0W8vMyrR3MDg81C"
    "AsWaRh0y5dJ9S9T1kS3LDdJYL0nJSP3YXrvgJO44UJvVBanZ6jsO4mEqFIa9+uIUBsSutR40C8Np45jMPBqxDqXlJ9BA"
    "U7N5apahCi6JLod1Uy4qN0Jl1gonu0WCYn4waxmNmIfR8GHWZMSCBjGelv6/LlQn6VpvVUxGG2QhRlN1VAgfTisVFarQ"
    "WUwGFOjsPdLiJlv8pPMs2b5x2buQnZSsgSB39YNl+Yb+GHK2G/FKbEgv+ZcwarAWQyNakq55HStxyTC6Lm+T4kBLjxa+"
    "bgOeOQfr+Kd/oGf43+gBNWv7UrDJJT1es4b7QLUWC4pNAE973trq8bd2d3rcB2r3c/vrPH7BF6ir3efxd7Z3uvZ9+Em7"
    "y9Lt83Z6PnpVsvkHsykaPw=="))
