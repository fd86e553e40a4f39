/** What people see: progress on standard error when it is a terminal, results on standard output. */
import { formatSeconds } from '../core/units.js';
import type { CommonOptions } from './command.js';

export interface Stage {
  /** From 0 to 1; cheap to call often. */
  readonly update: (fraction: number) => void;
  /** Seconds the stage took. */
  done(note?: string): number;
}

export interface Terminal {
  stage(title: string): Stage;
  /** A line for people; silent with --json. */
  say(line: string): void;
  /** The result: JSON for machines when asked, else the given lines. */
  result(json: unknown, lines: readonly string[]): void;
}

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

export function openTerminal(options: CommonOptions): Terminal {
  const quiet = options.json === true || options.quiet === true;
  const live = process.stderr.isTTY && !quiet;
  return {
    stage: (title) => openStage(title, { live, quiet }),
    say: (line) => {
      if (!quiet) process.stderr.write(`${line}\n`);
    },
    result: (json, lines) => {
      process.stdout.write(
        options.json === true ? `${JSON.stringify(json, null, 2)}\n` : `${lines.join('\n')}\n`,
      );
    },
  };
}

function openStage(
  title: string,
  { live, quiet }: { readonly live: boolean; readonly quiet: boolean },
): Stage {
  const started = performance.now();
  let drawn = -Infinity;
  const draw = (line: string): void => {
    process.stderr.write(`\r\x1b[2K${line}`);
  };
  if (live) draw(`  ${title} …`);
  return {
    update: (fraction) => {
      const now = performance.now();
      if (!live || now - drawn < REDRAW_MS) return;
      drawn = now;
      const filled = Math.round(Math.min(1, Math.max(0, fraction)) * BAR_WIDTH);
      const elapsedS = (now - started) / 1000;
      const left = fraction > 0.02 ? leftText((elapsedS * (1 - fraction)) / fraction) : '';
      draw(
        `  ${title.padEnd(28)} ${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(fraction * 100)} %${left}`,
      );
    },
    done: (note = '') => {
      const seconds = (performance.now() - started) / 1000;
      const line = `✓ ${title.padEnd(28)} ${formatSeconds(seconds).padStart(9)}   ${note}`.trimEnd();
      if (live) draw(`${line}\n`);
      else if (!quiet) process.stderr.write(`${line}\n`);
      return seconds;
    },
  };
}

/** Whole seconds: a guess has no digits to spare. */
const leftText = (seconds: number): string =>
  seconds < 1 ? '' : `, about ${seconds < 60 ? `${Math.round(seconds)} s` : formatSeconds(seconds)} left`;

/** Columns padded to their widest cell; numbers should come ready formatted. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)];
}
