#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	in_root.sh deb|rpm	as root, in a bare Debian, beside the source archive
#
# Builds the packages, installs them, builds, installs and runs one that depends on them, and
# removes all.  No word of warning is said, and no file is left; folders that packages of RPM share are
# another package's.
set -eu
export PYTHONDONTWRITEBYTECODE=1
cd "$(dirname "$0")/.."
form=$1
own=$(ls lazycuda-*.tar.gz)
version=${own#lazycuda-} version=${version%.tar.gz}

quietly() {
	"$@" >/tmp/said.log 2>&1 || { tail -n 40 /tmp/said.log; exit 1; }
	! grep -i 'warning:' /tmp/said.log | grep -v 'canonicalize hostname' || exit 1
}

files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path "$PWD" -o -path /tmp \
		-o -path /var/cache -o -path /var/lib/dpkg -o -path /var/lib/rpm -o -path /var/log \) \
		-prune -o \( ! -type d -o -name '*lazycuda*' \) -print | LC_ALL=C sort
}

use() {
	hello-cuda
	hello-cuda | grep -qx 'cudart 303, cublas 1'
	(cd / && hello-cuda-python) | tee python.log
	grep -qx "NO_BACKEND $1" python.log
	! lazycuda status >status.log || exit 1
	grep -q '^cudart .*missing' status.log
	lazycuda retarget -o out /usr/bin/hello-cuda
	test -f out/hello-cuda
}

build_deb() {
	cp "$own" "lazycuda_$version.orig.tar.gz"
	tar -xzf "$own"
	cd "lazycuda-$version"
	cp -r packaging/debian debian
	quietly dpkg-buildpackage -us -uc
	cd ..
	lintian --allow-root --fail-on error,warning ./*.changes >lintian.log || { cat lintian.log; exit 1; }
	! grep -v '^N:' lintian.log || exit 1
	rm ./*-dbgsym_*.deb
}

with_deb() {
	build_deb
	files >before
	dpkg -i ./*lazycuda*.deb >deb.log
	cd dependent
	quietly dpkg-buildpackage -us -uc -b
	cd ..
	dpkg -i ./hello-cuda_1_*.deb >>deb.log
	dpkg-deb -f ./hello-cuda_1_*.deb Depends | grep 'liblazycuda-all0.*liblazycuda0'
	ls /usr/lib/python3/dist-packages/lazycuda/__pycache__/link.*.pyc
	use /usr/lib/python3/dist-packages/lazycuda
	dpkg --purge $(for deb in *.deb; do dpkg-deb -f "$deb" Package; done) >>deb.log
}

# As distributions that have RPM build: symbols are a package of their own.  Their shell is bash, and
# rpm's own scripts take /bin/sh for that.  Debian's rpm takes the executable bit from libraries, as
# Debian has them; others do not.
settings_of_rpm() {
	ln -sf bash /bin/sh
	cat >.rpmmacros <<-'end'
	%_libdir /usr/lib
	%python3_sitearch /usr/lib/python3/dist-packages
	%_debugsource_packages 1
	%_enable_debug_packages 1
	%__os_install_post /usr/lib/rpm/brp-compress /usr
	end
	# Since 4.20 rpm does by itself what Fedora had in its own macros.
	case $(rpm --version) in *\ 4.1*) cat >>.rpmmacros <<-'end' ;; esac
	%install %{?buildsubdir:%{debug_package}}\
	%%install\
	%{nil}
	end
}

rpms() {
	quietly rpmbuild -ba --nodeps --define "_topdir $PWD/rpm" --define "sources $PWD/dependent" "$1"
}

# There is no package of RPM's for what Debian has; of lazycuda's none may be wanted.
install_rpms() {
	# Debian's own, up to rpm 4.18.
	force=$(rpm --help | grep -o -e '--force-debian' || :)
	! rpm -i $force --test "$@" 2>&1 |
		grep -iE '(lazycuda|[_-]stub).* is needed|conflict' || exit 1
	rpm -i $force --nodeps "$@"
}

with_rpm() {
	settings_of_rpm
	mkdir -p rpm/SOURCES
	cp "$own" rpm/SOURCES
	tar -xzf "$own" "lazycuda-$version/packaging"
	rpms "lazycuda-$version/packaging/lazycuda.spec"
	rm rpm/RPMS/*/*-debuginfo-*.rpm
	rpmlint --ignore-unused-rpmlintrc --rpmlintrc "lazycuda-$version/packaging/lazycuda.rpmlintrc" \
		rpm/RPMS/*/*.rpm rpm/SRPMS/*.rpm >rpmlint.log || { cat rpmlint.log; exit 1; }
	! grep -E ': [EW]: ' rpmlint.log || exit 1
	files >before
	install_rpms rpm/RPMS/*/*lazycuda-*.rpm
	rpms dependent/hello-cuda.spec
	install_rpms rpm/RPMS/*/hello-cuda-1-*.rpm
	rpm -q --requires hello-cuda | grep -x 'libcublas_stub\.so\.0.*'
	use /usr/lib/python3/dist-packages/lazycuda
	rpm -e --nodeps $(rpm -qa)
}

"with_$form"
files >after
diff before after
echo "$form: nothing is left"
