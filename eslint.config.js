import boundaries from 'eslint-plugin-boundaries';
import { importX } from 'eslint-plugin-import-x';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import tseslint from 'typescript-eslint';

/** Which rooms each room may open the door to (docs/design.md). Anything not listed is forbidden. */
const ground = ['core', 'telescope', 'sky', 'formats', 'backend'];
const rooms = ['channelise', 'correlate', 'calibrate', 'image'];
const doors = {
  core: ['core'],
  telescope: ['core', 'telescope'],
  sky: ['core', 'telescope', 'sky'],
  formats: ['core', 'telescope', 'sky', 'formats'],
  backend: ['core', 'backend'],
  ...Object.fromEntries(rooms.map((room) => [room, [...ground, room]])),
  pipeline: [...ground, ...rooms, 'pipeline'],
  bench: [...ground, ...rooms, 'bench'],
  cli: [...ground, ...rooms, 'pipeline', 'bench', 'cli'],
  acceptance: [...ground, ...rooms, 'pipeline', 'bench', 'cli', 'acceptance'],
};

export default tseslint.config(
  { ignores: ['dist/', 'build/', 'node_modules/', 'first-light/'] },
  {
    files: ['src/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { boundaries, 'import-x': importX },
    settings: {
      'import-x/resolver-next': [createTypeScriptImportResolver()],
      'import/resolver': { typescript: true },
      'boundaries/elements': [
        { type: 'acceptance', pattern: 'src/acceptance' },
        ...[...ground, ...rooms, 'pipeline', 'bench', 'cli'].map((type) => ({
          type,
          pattern: `src/${type}`,
        })),
      ],
    },
    rules: {
      'boundaries/dependencies': [
        'error',
        {
          default: 'disallow',
          policies: Object.entries(doors).map(([from, allowed]) => ({
            from: { element: { type: from } },
            allow: { to: { element: { type: allowed } } },
          })),
        },
      ],
      'import-x/no-cycle': 'error',
      'import-x/no-default-export': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // node:test's describe and it return promises that the runner awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['it', 'describe', 'test'] },
          ],
        },
      ],
    },
  },
);
