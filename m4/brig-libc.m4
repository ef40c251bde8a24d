dnl The C library of the programs. Inside a virtual machine each CPUID instruction traps, and glibc's
dnl start-up executes about forty of them, statically linked or not; musl's none. So a static brig
dnl is built with musl where musl-gcc is, by the kernel's and the libraries' headers behind musl's own.

dnl BRIG_MUSL_TRY: sets CC, YAJL_LIBS, SECCOMP_LIBS and CAP_LIBS for musl and brig_libc=musl, if a
dnl program with yajl and libseccomp links and runs; else leaves all as it was. The static archives
dnl are those of the host's compiler: named by path, or the linker would find glibc beside them.
AC_DEFUN([BRIG_MUSL_TRY], [
AC_MSG_CHECKING([for musl-gcc and whether it links yajl and libseccomp])
brig_multiarch=`$CC -print-multiarch 2>/dev/null`
brig_cc="musl-gcc -idirafter /usr/include"
AS_IF([test -n "$brig_multiarch"], [brig_cc="$brig_cc -idirafter /usr/include/$brig_multiarch"])
brig_yajl=`$CC -print-file-name=libyajl_s.a`
brig_seccomp=`$CC -print-file-name=libseccomp.a`
brig_cap=`$CC -print-file-name=libcap.a`
cat >conftest-musl.c <<'BRIG_EOF'
#include <linux/openat2.h>
#include <seccomp.h>
#include <string.h>
#include <yajl/yajl_parse.h>
#include "$srcdir/base/compat-musl.c"
int main(void)
{
	yajl_handle h = yajl_alloc(NULL, NULL, NULL);
	return !h || seccomp_syscall_resolve_name("read") < 0;
}
BRIG_EOF
sed "s|\$srcdir|`cd "$srcdir" && pwd`|" conftest-musl.c >conftest.c
AS_IF([$brig_cc -std=gnu17 $CPPFLAGS $CFLAGS $LDFLAGS -static -o conftest-musl conftest.c "$brig_yajl" \
		"$brig_seccomp" >&AS_MESSAGE_LOG_FD 2>&1 && ./conftest-musl],
	[AC_MSG_RESULT([yes])
	 brig_libc=musl
	 CC=$brig_cc
	 YAJL_LIBS=$brig_yajl
	 SECCOMP_LIBS=$brig_seccomp
	 CAP_LIBS=$brig_cap],
	[AC_MSG_RESULT([no])])
rm -f conftest-musl conftest-musl.c conftest.c
])

dnl BRIG_STARTUP_ORDER: sets STARTUP_ORDER to the linker's options for runtime/startup.ld, where the
dnl linker can add to its own script (INSERT: GNU ld and lld) and the sections have musl's names.
AC_DEFUN([BRIG_STARTUP_ORDER], [
STARTUP_ORDER=
AS_IF([test $brig_libc = musl],
	[AC_MSG_CHECKING([whether the linker takes the order of functions])
	 brig_ldflags=$LDFLAGS
	 LDFLAGS="$LDFLAGS -static -Wl,-T,$srcdir/runtime/startup.ld"
	 AC_LINK_IFELSE([AC_LANG_PROGRAM()],
		[AC_MSG_RESULT([yes])
		 STARTUP_ORDER='-Wl,-T,$(srcdir)/runtime/startup.ld'],
		[AC_MSG_RESULT([no])])
	 LDFLAGS=$brig_ldflags])
AC_SUBST([STARTUP_ORDER])
])

dnl BRIG_LIBC: --with-libc. To be called when the libraries are known. Sets HOST_CC to the compiler
dnl for what must not change with it (the payload of the benchmark), and the conditional MUSL.
AC_DEFUN([BRIG_LIBC], [
AC_ARG_WITH([libc], [AS_HELP_STRING([--with-libc=auto|glibc|musl],
	[C library of a static brig; musl starts faster (default: auto, musl where musl-gcc works)])],
	[], [with_libc=auto])
AC_SUBST([HOST_CC], [$CC])
brig_libc=host
brig_musl_why=
AS_CASE([`uname -m`], [x86_64|aarch64], [], [brig_musl_why="only for x86_64 and aarch64"])
AS_IF([test "x$cross_compiling" = xyes], [brig_musl_why="not in a cross build"])
AS_IF([test "x$enable_static" = xno], [brig_musl_why="not with sanitizers or --disable-static"])
AS_CASE([$with_libc],
	[glibc], [],
	[auto|musl], [AS_IF([test -z "$brig_musl_why"], [BRIG_MUSL_TRY],
		[test $with_libc = musl], [AC_MSG_ERROR([--with-libc=musl: $brig_musl_why])])],
	[AC_MSG_ERROR([--with-libc: $with_libc is none of auto, glibc, musl])])
AS_IF([test $with_libc = musl && test $brig_libc != musl],
	[AC_MSG_ERROR([--with-libc=musl does not work here (Debian: package musl-tools): see config.log])])
AM_CONDITIONAL([MUSL], [test $brig_libc = musl])
BRIG_STARTUP_ORDER
dnl Objects of an earlier configure with another compiler do not link with the new ones.
AS_IF([test -e Makefile && test "x`cat .compiler 2>/dev/null`" != "x$CC"],
	[find . -name '*.@<:@oa@:>@' -type f -exec rm -f {} +])
echo "$CC" >.compiler
])
