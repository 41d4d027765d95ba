// Runs health scripts of Argo CD in the interpreter that Argo CD has; tests/real/install.sh builds it.
module isthmus/tests/real/argocd

go 1.26.0

require github.com/yuin/gopher-lua v1.1.1
