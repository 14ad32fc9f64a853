# Becomes the command that follows the rig's folder ($1) and the name of the process ($2), once the watchdog can find it.
echo "$$" >"$1/pid-$2" || exit 1
[ -e "$1/live" ] || exit 1
shift 2
exec "$@"
