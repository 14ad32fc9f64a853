# The beginning and the end of a rig: $1 is its folder. It is made here, so that there is none without a watchdog.
# Standard input is a pipe whose other end the owner holds and never writes to; it reads as ended when the owner closes it
# or has died in whatever way.
#
# Order matters. A process of the rig writes its id into pid-NAME and then looks for the file "live" before it becomes
# what it is to be (see launcher.sh). "live" goes first, so each process is either in the list below or gives up.
trap '' HUP INT TERM PIPE
umask 077
mkdir "$1" || exit 1
: >"$1/live"
echo ready
exec >/dev/null 2>&1
while read -r _; do :; done
rm -f "$1/live"
killed=
for file in "$1"/pid-*; do
	[ -f "$file" ] || continue
	read -r pid <"$file" || continue
	# Each was started as the leader of its own session, so its id is also its group's.
	kill -9 "-$pid" && killed="$killed $pid"
done
# A process that is being killed is there for a moment yet, and may still be writing. The tries bound all of the waiting.
tries=0
for pid in $killed; do
	while kill -0 "-$pid" && [ "$tries" -lt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
done
tries=0
while [ -e "$1" ] && [ "$tries" -lt 200 ]; do
	rm -rf "$1"
	[ -e "$1" ] && sleep 0.05
	tries=$((tries + 1))
done
