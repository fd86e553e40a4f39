// The commands that a page of the documentation shows. Fenced blocks of `sh` are command lines; in `console` blocks
// those after `$ `, and the lines below are their output. A comment before a block, invisible to readers, adds to it:
//   <!-- needs: a card -->         not run: why. Where it is the name of a file, run if CORELLA_TEST_DATA holds it; the compiled library: run where there is one
//   <!-- file: garden.json -->     not a command: the reader writes this file
//   <!-- background -->            another terminal: goes on until the page ends, then Ctrl-C
//   <!-- until: live.png -->       Ctrl-C as soon as this file is there

/** @typedef {{ line: number, command: string, output: string[], needs?: string, background: boolean, until?: string }} Command */
/** @typedef {{ line: number, file: string, text: string }} WrittenFile */
/** @typedef {Command | WrittenFile} Item */

const notes = /^<!-- (needs|file|until): (.+?) -->$|^<!-- (background) -->$/;

/**
 * @param {string} text
 * @returns {{ items: Item[], faults: string[] }}
 */
export function parsePage(text) {
  const lines = text.split('\n');
  /** @type {Item[]} */
  const items = [];
  /** @type {string[]} */
  const faults = [];
  /** @type {Partial<Record<string, string>>} */
  let said = {};
  for (let n = 0; n < lines.length; n++) {
    const note = notes.exec(lines[n].trim());
    if (note) said[note[1] || note[3]] = note[2] || 'yes';
    const fence = /^```(\w*)\s*$/.exec(lines[n]);
    if (!fence) {
      if (!note && lines[n].trim() !== '') said = {};
      continue;
    }
    const end = lines.indexOf('```', n + 1);
    const body = lines.slice(n + 1, end);
    if (said.file !== undefined)
      items.push({ line: n + 1, file: said.file, text: body.map((line) => `${line}\n`).join('') });
    else if (fence[1] === 'sh' || fence[1] === 'bash' || fence[1] === 'console')
      items.push(...commandsOf(body, n + 2, fence[1] === 'console', said));
    else if (body.some((line) => /^(?:\$ )?(?:corella|npm|npx|node) /.test(line)))
      faults.push(`line ${n + 1}: a block of command lines is not marked as sh or console`);
    said = {};
    n = end;
  }
  return { items, faults };
}

/**
 * @param {readonly string[]} body
 * @param {number} first
 * @param {boolean} prompted
 * @param {Partial<Record<string, string>>} said
 * @returns {Command[]}
 */
function commandsOf(body, first, prompted, said) {
  /** @type {Command[]} */
  const commands = [];
  let open = false;
  body.forEach((line, k) => {
    if (open) commands[commands.length - 1].command += `\n${line}`;
    else if (prompted ? line.startsWith('$ ') : line.trim() !== '' && !line.startsWith('#'))
      commands.push({
        ...{ line: first + k, command: prompted ? line.slice(2) : line, output: [] },
        ...{ background: said.background !== undefined },
        ...(said.needs !== undefined && { needs: said.needs }),
        ...(said.until !== undefined && { until: said.until }),
      });
    else {
      commands.at(-1)?.output.push(line);
      return;
    }
    open = line.endsWith('\\');
  });
  return commands;
}

/**
 * Lines that a page shows and the command did not print. Numbers may differ by a twentieth, seconds by any amount, and
 * iterations too, since their number depends on a backend's precision; a line of `…` stands for any lines.
 * @param {readonly string[]} shown
 * @param {string} printed
 */
export function notPrinted(shown, printed) {
  const lines = printed.split('\n').map(parts);
  return shown.filter(
    (line) => line.trim() !== '' && line.trim() !== '…' && !lines.some((said) => alike(parts(line), said)),
  );
}

/** @param {string} line */
const parts = (line) =>
  line
    .trim()
    .replace(/\s+/g, ' ')
    .split(/(\d+(?:\.\d+)?)/);

/**
 * @param {readonly string[]} shown
 * @param {readonly string[]} said
 */
function alike(shown, said) {
  return (
    shown.length === said.length &&
    shown.every((part, k) => {
      if (k % 2 === 0) return withoutTime(part) === withoutTime(said[k]);
      if (/^ (?:[mµ]?s|min|iterations)\b/.test(shown[k + 1])) return true;
      return Math.abs(Number(part) - Number(said[k])) <= 0.05 * Math.abs(Number(part));
    })
  );
}

/**
 * Units of time may differ too: 980 ms and 1.1 s.
 * @param {string} part
 */
const withoutTime = (part) => part.replace(/^ [mµ]?s\b/, '');
