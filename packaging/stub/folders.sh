# SPDX-License-Identifier: MIT
#
# folders.sh - folders that `make install` makes and `make uninstall` takes away
#
#	folders.sh make RECORD FOLDER		makes it; what was missing is added to RECORD
#	folders.sh remove-own RECORD FOLDER...	those that bear our name, if they are empty
#	folders.sh remove RECORD FOLDER...	and those above them, if they are empty and
#						RECORD has them: they were not there before
set -eu

# A folder and all above it.
above() {
	for folder; do
		while [ "$folder" != . ] && [ "$folder" != / ]; do
			echo "$folder"
			case $folder in		# a process less for each than dirname
			*//* | */) folder=$(dirname "$folder") ;;
			?*/*) folder=${folder%/*} ;;
			/*) folder=/ ;;
			*) folder=. ;;
			esac
		done
	done
}

make_folder() {
	mkdir -p "$(dirname "$record")"
	above "$1" | while read -r folder; do
		[ -d "$folder" ] || echo "$folder"
	done >>"$record"
	${INSTALL:-install} -d "$1"
}

# On stdin, a folder before those above it.
remove_empty() {
	while read -r folder; do
		rmdir "$folder" 2>/dev/null || :
	done
}

remove_own() {
	printf '%s\n' "$@" | LC_ALL=C sort -r | remove_empty
}

remove_shared() {
	[ -f "$record" ] || return 0
	above "$@" | LC_ALL=C sort -u >"$record.asked"
	grep -xF -f "$record.asked" "$record" | LC_ALL=C sort -ru | remove_empty
	# Folders that are not empty belong to others by now.
	grep -vxF -f "$record.asked" "$record" >"$record.new" || :
	mv "$record.new" "$record"
	rm "$record.asked"
	[ -s "$record" ] || rm "$record"
}

action=$1 record=$2
shift 2
case $action in
make) make_folder "$1" ;;
remove-own) remove_own "$@" ;;
remove) remove_shared "$@" ;;
esac
