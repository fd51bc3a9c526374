#!/usr/bin/env bash
# The peers, and Separatrix beside them, in an environment of their own: benchmarks/install_peers.sh [DIR]
# Two minutes. torchvision and visdom, which adversarial-library imports and the benchmark never uses, are empty
# stand-ins: the one does not import beside PyTorch's CPU build, the other does not build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
dir=${1:-$root/.venv-peers}
[ -e "$dir/.ready" ] && [ "$dir/.ready" -nt "$0" ] && exit 0
"${PYTHON:-python3}" -m venv "$dir"
pip=("$dir/bin/python" -m pip install --disable-pip-version-check --quiet -c "$root/constraints.txt")
"${pip[@]}" -e "$root"
"${pip[@]}" setuptools eagerpy GitPython requests numba pillow tqdm six scikit-learn joblib einops opt-einsum packaging
"${pip[@]}" --no-deps foolbox==3.3.4 adversarial-robustness-toolbox==1.20.1 torchattacks==3.5.1 adv-lib==0.2.8 secml-torch==1.5
site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
for name in visdom torchvision; do
  "$dir/bin/python" -c "import $name" 2>/dev/null && continue
  cp -r "$here/stand_ins/$name" "$site/"
done
"$dir/bin/python" -c 'import foolbox, art, torchattacks, adv_lib.attacks, secmlt, separatrix'
touch "$dir/.ready"
