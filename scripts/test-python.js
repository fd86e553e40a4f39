// python/corella.py: its tests, and its notebooks if Jupyter is installed. Missing software is named and is no failure;
// a failed test or notebook is.
//   npm run test:python
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../python', import.meta.url));
// Debian's own, with Debian's modules, by default.
const python = process.env.PYTHON ?? '/usr/bin/python3';
/** @param {string} module */
const has = (module) => spawnSync(python, ['-c', `import ${module}`]).status === 0;
/** @param {readonly string[]} words */
function must(words) {
  const { status } = spawnSync(python, words, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!has('numpy')) console.log('NOT CHECKED: python/: no numpy (Debian: python3-numpy)');
else {
  for (const [module, name] of [
    ['astropy', 'python3-astropy'],
    ['h5py', 'python3-h5py'],
  ])
    if (!has(module)) console.log(`NOT CHECKED: comparison with ${module}: apt install ${name}`);
  must(['-m', 'unittest']);
  const notebooks = readdirSync(join(folder, 'notebooks')).filter((name) => name.endsWith('.ipynb'));
  if (has('nbconvert') && has('ipykernel'))
    for (const name of notebooks)
      must([
        '-m',
        'nbconvert',
        '--to',
        'notebook',
        '--execute',
        '--stdout',
        '--log-level',
        'WARN',
        join('notebooks', name),
      ]);
  else console.log('NOT CHECKED: the notebooks: apt install jupyter-nbconvert python3-ipykernel');
}
