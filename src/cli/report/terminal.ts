/** Terminal output: progress on standard error if it is a terminal, results on standard output. */
import type { OnProgress, OnStep } from '../../core/progress.js';
import { formatSeconds } from '../../core/units.js';
import {
  messagesIn,
  orbitMessages,
  isMessage,
  shown,
  textOf,
  type Line,
  type Message,
} from '../../messages/index.js';
import { takeOrbitReport } from '../../sky/orbits/report.js';
import type { CommonOptions } from '../options/command.js';
import { inFlags } from '../options/in-flags.js';
import { escaped } from './escaped.js';
import { resultText } from './json.js';
import { PartlyDone } from './outcome.js';

export interface Stage {
  /** Cheap to call often. A bar if the total is known, else a count. */
  readonly update: OnProgress;
  /** The current step, if it should be named. */
  readonly at: (fraction: number, what: string) => void;
  /** The same for short steps: only on a terminal. */
  readonly step: OnStep;
  /** Returns the seconds the stage took. */
  done(note?: string): number;
}

export interface Terminal {
  stage(title: string): Stage;
  /** A line for users; silent with --json, which has messages in the result. */
  say(line: Line): void;
  /** Lines of an incomplete result; silent with --json, which prints it when complete. */
  show(lines: readonly Line[]): void;
  /**
   * The result: JSON if requested, with the messages among the lines; else the lines. Throws `PartlyDone` if something
   * is `lacking`.
   */
  result(json: object, lines: readonly Line[], lacking?: readonly Message[]): void;
}

/** Messages beside a result made elsewhere: always on standard error, and in the next result's JSON. */
const noted: Message[] = [];
export function note(given: Message): void {
  const one = inFlags(given);
  noted.push(one);
  process.stderr.write(`${escaped(shown(one.severity === 'note' ? `note: ${one.text}` : one))}\n`);
}

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

/** The line that is redrawn while a stage lasts. */
interface LiveLine {
  draw(line: string): void;
  /** Keeps the line; the next one is new. */
  leave(line: string): void;
  /** Removes the line while other text is written. */
  aside(write: () => void): void;
}

function openLiveLine(): LiveLine {
  let drawn = '';
  const clear = (): void => {
    process.stderr.write('\r\x1b[2K');
  };
  return {
    // A wrapped line cannot be erased.
    draw: (text) => {
      const line = escaped(text);
      drawn = process.stderr.columns > 0 ? line.slice(0, process.stderr.columns - 1) : line;
      clear();
      process.stderr.write(drawn);
    },
    leave: (line) => {
      drawn = '';
      clear();
      process.stderr.write(`${line}\n`);
    },
    aside: (write) => {
      clear();
      write();
      process.stderr.write(drawn);
    },
  };
}

export function openTerminal(options: CommonOptions): Terminal {
  const quiet = options.json === true || options.quiet === true;
  const live = process.stderr.isTTY && !quiet ? openLiveLine() : undefined;
  const said: Message[] = [];
  const write = (lines: readonly string[]): void => {
    const out = (): void => {
      if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
    };
    if (live) live.aside(out);
    else out();
  };
  return {
    stage: (title) => openStage(title, { live, quiet }),
    say: (given) => {
      const one = inFlags(given);
      if (isMessage(one)) said.push(one);
      const line = escaped(shown(one));
      if (live) live.leave(line);
      else if (!quiet) process.stderr.write(`${line}\n`);
    },
    show: (lines) => {
      if (options.json !== true) write(lines.map((line) => escaped(shown(inFlags(line)))));
    },
    result: (json, given, missing = []) => {
      const [lines, lacking] = [
        [...given, ...orbitMessages(takeOrbitReport())].map(inFlags),
        missing.map(inFlags),
      ];
      write(
        options.json === true
          ? [
              resultText({
                ...json,
                messages: [...noted.splice(0), ...said, ...messagesIn(lines), ...lacking],
              }),
            ]
          : lines.map((line) => escaped(shown(line))),
      );
      if (lacking.length > 0) throw new PartlyDone(lacking.map(textOf).join('\n'));
    },
  };
}

function openStage(
  title: string,
  { live, quiet }: { readonly live: LiveLine | undefined; readonly quiet: boolean },
): Stage {
  const started = performance.now();
  let drawnMs = -Infinity;
  const draw = (fraction: number, what: string): void => {
    const now = performance.now();
    drawnMs = now;
    const filled = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(fraction * 100)} %`;
    const elapsedS = (now - started) / 1000;
    const left = fraction > 0.02 ? leftText((elapsedS * (1 - fraction)) / fraction) : '';
    live?.draw(`  ${title.padEnd(28)} ${bar}${left}${what === '' ? '' : `: ${what}`}`);
  };
  live?.draw(`  ${title} …`);
  return {
    update: ({ done, of, unit }) => {
      if (!live || performance.now() - drawnMs < REDRAW_MS) return;
      if (of !== undefined) {
        draw(done / of, '');
        return;
      }
      drawnMs = performance.now();
      live.draw(`  ${title.padEnd(28)} ${done.toLocaleString('en')} ${unit}`);
    },
    at: (fraction, what) => {
      if (live) draw(fraction, what);
      else if (!quiet) process.stderr.write(`  ${escaped(`${title}: ${what}`)}\n`);
    },
    step: (fraction, what) => {
      if (live) draw(fraction, what);
    },
    done: (note = '') => {
      const seconds = (performance.now() - started) / 1000;
      const line = escaped(`✓ ${title.padEnd(28)} ${formatSeconds(seconds).padStart(9)}   ${note}`.trimEnd());
      if (live) live.leave(line);
      else if (!quiet) process.stderr.write(`${line}\n`);
      return seconds;
    },
  };
}

/** Whole seconds: an estimate needs no more digits. */
const leftText = (seconds: number): string =>
  seconds < 1 ? '' : `, about ${seconds < 60 ? `${Math.round(seconds)} s` : formatSeconds(seconds)} left`;

/** A table whose widths are fixed before its rows are known; a wider cell shifts its row to the right. */
export interface OpenTable {
  readonly head: readonly string[];
  readonly line: (cells: readonly string[]) => string;
}

export function openTable(columns: readonly { readonly head: string; readonly width: number }[]): OpenTable {
  const widths = columns.map(({ head, width }) => Math.max(head.length, width));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  return {
    head: [line(columns.map(({ head }) => head)), widths.map((width) => '─'.repeat(width)).join('  ')],
    line,
  };
}

/** Columns padded to their widest cell; numbers should be formatted by the caller. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widthOf = (column: number): number => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0));
  const open = openTable(head.map((text, column) => ({ head: text, width: widthOf(column) })));
  return [...open.head, ...rows.map(open.line)];
}
