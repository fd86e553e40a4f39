// The library's reference, made from the comments on the exports of src/index.ts:
//   npm run --silent api > api.md      every exported function, its signature and its comment, as Markdown
//   node scripts/api-reference.js --check   fails if a function has no comment
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const index = `${root}src/index.ts`;

const command = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.json`, undefined, {
  ...ts.sys,
  onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
    throw new Error(ts.flattenDiagnosticMessageText(messageText, ' '));
  },
});
const options = command?.options ?? {};
const program = ts.createProgram([index], { ...options, noEmit: true, incremental: false, composite: false });
const checker = program.getTypeChecker();
const source = program.getSourceFile(index);
const library = source && checker.getSymbolAtLocation(source);
if (!library) throw new Error(`${index} exports nothing`);

const functions = checker
  .getExportsOfModule(library)
  .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
  .flatMap((symbol) => {
    const declaration = symbol.declarations?.at(0);
    if (!declaration || !(symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable))) return [];
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
    const signatures = type.getCallSignatures().map((one) => checker.signatureToString(one, declaration));
    const file = declaration.getSourceFile().fileName.slice(root.length);
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker));
    return signatures.length === 0 ? [] : [{ name: symbol.name, file, comment, signatures }];
  });

if (process.argv.includes('--check')) {
  const bare = functions.filter(({ comment }) => comment === '');
  for (const { file, name } of bare)
    console.error(`${file}: ${name} is exported by src/index.ts and has no comment`);
  console.log(`${functions.length} functions are exported, ${bare.length} without a comment`);
  process.exitCode = bare.length === 0 ? 0 : 1;
} else {
  /** @type {Map<string, typeof functions>} */
  const modules = new Map();
  for (const one of functions) {
    const folder = one.file.split('/').slice(1, -1).join('/');
    modules.set(folder, [...(modules.get(folder) ?? []), one]);
  }
  console.log('# The library, function by function\n');
  for (const [folder, some] of [...modules].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`## ${folder}\n`);
    for (const { name, comment, signatures } of some) {
      console.log(`### ${name}\n\n${comment}\n`);
      console.log(['```ts', ...signatures.map((one) => `${name}${one}`), '```\n'].join('\n'));
    }
  }
}
