/** corella completion: shell completion for bash, zsh and fish, generated from the option declarations. */
import type { Command, Option } from 'commander';
import { refuse } from '../core/errors.js';
import { choicesOf } from '../fields/index.js';
import { explained } from '../messages/index.js';
import { addHelp } from './startup/help.js';
import { pathOf, registered, variantsOf, type Commands } from './startup/whole-program.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export function registerCompletion(program: Command, commands: Commands): void {
  const command = program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .action(async (shell: string) => {
      const known =
        shells.find((one) => one === shell) ??
        refuse('completion', `'${shell}' is not a shell that we know`, `choose ${shells.join(', ')}`);
      process.stdout.write(await completionOf(known, commands));
    });
  addHelp(command, {
    examples: [
      [
        'completion bash > ~/.local/share/bash-completion/completions/corella',
        'for bash, from its next start on',
      ],
      ['completion zsh > ~/.zfunc/_corella', 'for zsh, where ~/.zfunc is in its fpath'],
      ['completion fish > ~/.config/fish/completions/corella.fish', 'for fish'],
    ],
  });
}

interface Offered {
  /** Words after corella: "farm submit". */
  readonly path: string;
  readonly commands: readonly string[];
  readonly options: readonly Option[];
}

async function everything(commands: Commands): Promise<Offered[]> {
  const offered = new Map<string, Offered>();
  for (const { name, words } of variantsOf(commands))
    for (const command of await registered(commands, name, words)) {
      const path = pathOf(command).replace(/^corella /, '');
      const before = offered.get(path)?.options ?? [];
      const own = command.options.filter(({ hidden }) => !hidden);
      const added = own.filter(({ long }) => !before.some((one) => one.long === long));
      offered.set(path, {
        path,
        options: [...before, ...added],
        commands: command.commands.map((one) => one.name()),
      });
    }
  return [...offered.values()];
}

export async function completionOf(shell: Shell, commands: Commands): Promise<string> {
  const all = await everything(commands);
  if (shell === 'fish') return fish(all, commands);
  const script = bash(all, commands);
  return shell === 'bash'
    ? script
    : `#compdef corella\nautoload -U +X bashcompinit && bashcompinit\n${script}`;
}

/** Message codes, for corella help. */
const codes = explained.map(({ code }) => code);

const takesValue = ({ required, optional }: Option): boolean => required || optional;
const namesOf = ({ short, long }: Option): string[] => [short, long].filter((name) => name !== undefined);

function bash(all: readonly Offered[], commands: Commands): string {
  const values = new Map<string, string[]>();
  for (const { path, options } of all)
    for (const option of options.filter(takesValue)) {
      const words = choicesOf(option).join(' ');
      const places = namesOf(option).map((name) => `'${path} ${name}'`);
      values.set(words, [...(values.get(words) ?? []), ...places]);
    }
  const cases = [...values].map(([words, places]) => {
    // Where any value is allowed, the shell offers files.
    const reply = words === '' ? 'COMPREPLY=()' : `COMPREPLY=($(compgen -W '${words}' -- "$word"))`;
    return `    ${places.join('|')})\n      ${reply}\n      return ;;`;
  });
  const paths = all.map(({ path }) => `'${path}'`).join('|');
  const offers = all.map(({ path, commands: own, options }) => {
    const names = ['--help', ...options.flatMap(namesOf)].join(' ');
    return `    '${path}') commands='${own.join(' ')}'; options='${names}' ;;`;
  });
  return `# corella completion bash
_corella() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path='' commands='${Object.keys(commands).join(' ')} help' options='--help --version' one
  for one in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$one" in
    ${paths}) path="\${path:+$path }$one" ;;
    esac
  done
  case "$path $before" in
${cases.join('\n')}
  esac
  case "$path" in
${offers.join('\n')}
  esac
  if [[ \${COMP_WORDS[1]} == help && $COMP_CWORD == 2 ]]; then
    COMPREPLY=($(compgen -W '${[...Object.keys(commands), ...codes].join(' ')}' -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  fi
}
complete -o default -F _corella corella
`;
}

function fish(all: readonly Offered[], commands: Commands): string {
  const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const seen = (path: string): string =>
    path
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
  const brief = (text: string): string => text.replace(/[;(].*$/s, '').trim();
  return [
    '# corella completion fish',
    `complete -c corella -f -n __fish_use_subcommand -a help -d ${quoted('help of a command, or of the code of a message')}`,
    `complete -c corella -f -n '__fish_seen_subcommand_from help' -a ${quoted([...Object.keys(commands), ...codes].join(' '))}`,
    ...Object.entries(commands).map(
      ([name, { summary }]) =>
        `complete -c corella -f -n __fish_use_subcommand -a ${name} -d ${quoted(brief(summary))}`,
    ),
    ...all.flatMap(({ path, commands: own, options }) => [
      ...own.map((name) => `complete -c corella -f -n ${quoted(seen(path))} -a ${name}`),
      ...options.map((option) => {
        const [short, long] = [option.short?.slice(1), option.long?.slice(2)];
        const names = `${short === undefined ? '' : ` -s ${short}`}${long === undefined ? '' : ` -l ${long}`}`;
        const choices = choicesOf(option);
        const value = !takesValue(option)
          ? ''
          : choices.length > 0
            ? ` -x -a ${quoted(choices.join(' '))}`
            : ' -r';
        return `complete -c corella -n ${quoted(seen(path))}${names}${value} -d ${quoted(brief(option.description))}`;
      }),
    ]),
    '',
  ].join('\n');
}
