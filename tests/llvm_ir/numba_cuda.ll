; ModuleID = "kernel$1"
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"

@"_ZN08NumbaEnv8__main__6kernelB2v1B108cw51cXTLSUwv1sDUaKthoaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQGNFHSgJ5BkDWempebpABwN5IKfXagIAEi" = common global i8* null
define void @"_ZN8__main__6kernelB2v1B108cw51cXTLSUwv1sDUaKthoaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQGNFHSgJ5BkDWempebpABwN5IKfXagIAEi"(i32 %"number")
{
entry:
  br label %"B0"
B0:
  ret void
}

@"llvm.used" = appending global [1 x i8*] [i8* bitcast (void (i32)* @"_ZN8__main__6kernelB2v1B108cw51cXTLSUwv1sDUaKthoaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQGNFHSgJ5BkDWempebpABwN5IKfXagIAEi" to i8*)], section "llvm.metadata"
!nvvmir.version = !{ !0 }
!nvvm.annotations = !{ !1 }
!0 = !{ i32 2, i32 0, i32 3, i32 2 }
!1 = !{ void (i32)* @"_ZN8__main__6kernelB2v1B108cw51cXTLSUwv1sDUaKthoaNgoKmjgOR3W3CwAkMXLaJtQYkOIgxJU0gCqOkEJoHkbttqdVhoqlspQGNFHSgJ5BkDWempebpABwN5IKfXagIAEi", !"kernel", i32 1 }
