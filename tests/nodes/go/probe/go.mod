// What runs in the pods of tests, beside what is tested; tests/nodes/build.sh builds it.
module isthmus/tests/nodes/probe

go 1.26.0
