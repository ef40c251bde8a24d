dnl BRIG_SIDECAR: brigd is built where libwebsockets is, unless --without-brigd.
AC_DEFUN([BRIG_SIDECAR], [
AC_ARG_WITH([brigd], [AS_HELP_STRING([--with-brigd=auto|yes|no],
	[build brigd, the service; needs libwebsockets (default: auto)])], [], [with_brigd=auto])
brig_have_lws=no
AS_IF([test "x$with_brigd" != xno],
	[PKG_CHECK_MODULES([LWS], [libwebsockets >= 4.1], [brig_have_lws=yes], [brig_have_lws=no])])
AS_IF([test "x$with_brigd" = xyes && test $brig_have_lws = no],
	[AC_MSG_ERROR([--with-brigd needs libwebsockets (Debian: libwebsockets-dev)])])
AM_CONDITIONAL([BRIGD], [test $brig_have_lws = yes])
])
