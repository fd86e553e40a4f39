/** corella help CODE: the meaning of a message or an error, and what to do. Commander prints the help of commands. */
import { meantName } from '../core/spelling.js';
import { inFlags } from '../observation/flags.js';
import { refuse } from '../core/errors.js';
import { explained, type Explained } from '../messages/index.js';

const WIDTH = 80;

/** Whether a word is a code, or looks like one. */
export const looksLikeCode = (word: string): boolean =>
  word.includes('.') || explained.some(({ code }) => code === word);

export function explanationOf(asked: string): string {
  const found = explained.find(({ code }) => code === asked);
  if (found) return textOf(found);
  const [area] = asked.split('.');
  const codes = explained.map(({ code }) => code);
  const beside = codes.filter((code) => code.startsWith(`${area}.`));
  const meant = meantName(asked, codes) ?? nearest(asked, beside);
  return refuse(
    'help',
    `there is no message '${asked}'`,
    meant === undefined
      ? beside.length > 0
        ? `those of ${area} are ${beside.join(', ')}`
        : 'docs/json.md lists all codes'
      : `did you mean ${meant}?`,
    'value.invalid',
  );
}

/** By the part after the area: calibrate.leakage matches calibrate.leakage-high. */
const nearest = (asked: string, codes: readonly string[]): string | undefined =>
  codes.find((code) => code.startsWith(asked) || asked.startsWith(code));

function textOf({ code, severity, data, help }: Explained): string {
  const rows = Object.entries(data).map(([name, what]) => `  ${name.padEnd(16)} ${what.replaceAll('`', '')}`);
  return [
    `${code} (${severity})`,
    '',
    ...wrapped(inFlags(help)),
    ...(rows.length > 0 ? ['', 'Data in --json:', ...rows] : []),
    '',
  ].join('\n');
}

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last !== '' && last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
