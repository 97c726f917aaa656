# What a C program needs beside the static archive, for the .pc files; to be sourced where root is set.
# shellcheck shell=bash disable=SC2154

static_libs() { # linux or darwin
    # The compiler's own runtime and the C library are left out: the compiler adds both, static or shared as the program is.
    local libs
    libs=$(sed -n "s/^#cgo $1 LDFLAGS: //p" "$root/go/policy/link_static.go" | tr ' ' '\n' |
        grep -vxE -e '-l(gcc_s|c|System)' | paste -sd ' ' -)
    # In a static program the unwinder of GCC calls these where it sees that there are threads; a glibc older than 2.34 doesn't
    # link them for that, and the program would call address 0.
    case $1 in linux) libs="-Wl,-u,pthread_once,-u,pthread_mutex_lock,-u,pthread_mutex_unlock $libs" ;; esac
    echo "$libs"
}
