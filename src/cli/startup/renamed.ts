/** Option names of the previous version: they still work, with a warning that gives the new name. */

interface Renamed {
  readonly commands: readonly string[];
  readonly from: string;
  readonly to: string;
  /** Only if the value matches this. */
  readonly value?: RegExp;
  /** The new option takes no value. */
  readonly withoutValue?: true;
}

const equalised = ['correlate', 'channelise', 'farm', 'image'];
const ofVisibilities = ['calibrate', 'apply', 'image', 'convert'];

export const renamedOptions: readonly Renamed[] = [
  { commands: ofVisibilities, from: '--channels', to: '--keep-channels' },
  { commands: ['live'], from: '--channels', to: '--receive-channels', value: /^\s*\d+\s*-\s*\d+\s*$/ },
  { commands: ['calibrate'], from: '--every', to: '--solve-every' },
  { commands: ['calibrate'], from: '--tolerance', to: '--convergence' },
  { commands: ['calibrate', 'image'], from: '--integration', to: '--integration-number' },
  { commands: ['image'], from: '--gain', to: '--loop-gain' },
  { commands: ['image', 'live'], from: '--weight', to: '--weights' },
  { commands: ['image'], from: '--per-channel', to: '--cube' },
  {
    commands: ['apply', 'image', 'farm'],
    from: '--cross-hand',
    to: '--cross-hand-known',
    withoutValue: true,
  },
  { commands: ['inspect'], from: '--antennas', to: '--map' },
  { commands: ['plan'], from: '--spectra', to: '--from-spectra' },
  { commands: ['qualify'], from: '--only', to: '--figures' },
  { commands: ['qualify'], from: '--output', to: '--out' },
  { commands: [...equalised, 'live'], from: '--levels', to: '--equaliser' },
  { commands: equalised, from: '--levels-out', to: '--equaliser-out' },
  { commands: ['farm'], from: '--patience', to: '--timeout' },
  { commands: ['farm', 'worker'], from: '--token-file', to: '--server-token-file' },
];

/**
 * The words with current names; `warn` receives each old name and its new one. With --direct, image has its own
 * options.
 */
export function withNewSpellings(
  words: readonly string[],
  warn: (from: string, to: string) => void,
): string[] {
  const [command] = words;
  const isDirect = words.includes('--direct');
  const result: string[] = [];
  for (let k = 0; k < words.length; k++) {
    const [name, ...rest] = words[k].split('=');
    const value = rest.length > 0 ? rest.join('=') : words.at(k + 1);
    const one = renamedOptions.find(
      ({ commands, from, value: pattern }) =>
        from === name && commands.includes(command) && (pattern?.test(value ?? '') ?? true),
    );
    if (!one || (isDirect && ['--channels', '--gain', '--integration'].includes(name))) {
      result.push(words[k]);
      continue;
    }
    warn(one.from, one.to);
    result.push(rest.length > 0 && one.withoutValue !== true ? `${one.to}=${rest.join('=')}` : one.to);
    if (one.withoutValue === true && rest.length === 0) k++;
  }
  return result;
}
