#!/bin/sh
# Checks what `make setup` cannot install: Python 3.11+ with venv, a JDK 17+, Maven.
# Prints the Python to use and exits with 0; or prints a line for each missing tool and exits with 2.
# PYTHON names the interpreter to use. Uses shell built-ins only, because the PATH may lack other programs.

faults=0
missing() {
    echo "missing: $1. Install: $2" >&2
    faults=1
}

# Prints "ok <path>" for a Python 3.11+ with venv, "old <version>" or "novenv <version>" for others.
describe_python() {
    "$1" -c '
import sys
version = "%d.%d" % sys.version_info[:2]
if sys.version_info < (3, 11):
    print("old " + version)
else:
    try:
        import ensurepip, venv
        print("ok " + sys.executable)
    except ImportError:
        print("novenv " + version)
' 2>/dev/null
}

python=""
python_old=""
python_without_venv=""
for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3}; do
    found=$(describe_python "$candidate") || continue
    case $found in
        ok\ *) python=${found#ok }; break ;;
        novenv\ *) python_without_venv=${found#novenv } ;;
        old\ *) python_old=${found#old } ;;
    esac
done
if [ -z "$python" ]; then
    if [ -n "$python_without_venv" ]; then
        missing "the venv module of Python $python_without_venv" \
            "the package python3-venv (Debian, Ubuntu: apt-get install python$python_without_venv-venv)"
    elif [ -n "$python_old" ]; then
        missing "Python 3.11 or newer (${PYTHON:-python3} is $python_old)" \
            "a newer Python (Debian 12: apt-get install python3 python3-venv), or name one: make setup PYTHON=python3.12"
    else
        missing "Python 3.11 or newer (${PYTHON:-python3} does not run)" \
            "Python (Debian 12: apt-get install python3 python3-venv)"
    fi
fi

# Maven prefers JAVA_HOME to the PATH; so does this.
javac=javac
[ -n "$JAVA_HOME" ] && javac=$JAVA_HOME/bin/javac
jdk_advice="a JDK 17 or newer (Debian 12: apt-get install openjdk-17-jdk-headless)"
if javac_version=$("$javac" -version 2>&1); then
    javac_version=${javac_version##*javac }
    case ${javac_version%%[!0-9]*} in
        "" | ? | 1[0-6]) missing "a JDK 17 or newer ($javac is $javac_version)" "$jdk_advice" ;;
    esac
else
    missing "a JDK 17 or newer ($javac does not run)" "$jdk_advice"
fi

command -v mvn >/dev/null || missing "Maven (mvn is not on the PATH)" "Maven 3.6.3 or newer (Debian: apt-get install maven)"

[ "$faults" = 0 ] || exit 2
echo "$python"
