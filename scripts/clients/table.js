// The table "checked against whom" of docs/formats.md, from the results of this run of the checks. It is written only
// if every peer is installed: a machine that lacks one would remove the results of others.
import { readFileSync, writeFileSync } from 'node:fs';
import { peers } from './peers.js';

/** Title of each format, whether it is written, and how it is tested if no peer reads it. */
const rows = [
  { format: 'sigmf', title: 'SigMF', read: true, written: true, otherwise: 'its own schema' },
  { format: 'vdif', title: 'VDIF', read: true },
  { format: 'mark5b', title: 'Mark 5B', read: true },
  { format: 'guppi', title: 'GUPPI RAW', read: true },
  { format: 'dada', title: 'PSRDADA', read: true },
  { format: 'gsb', title: 'GMRT (GSB)', read: true },
  {
    format: 'lwa',
    title: 'LWA frames',
    read: true,
    otherwise:
      'TBN, TBF, TBX, DRX, COR: LSL 4.0.1 and 3.0.8 (`src/acceptance/recording-facts.ts`); TBW, DRX8, TBF of 64 stands, DR spectrometer: frames laid out by hand alone',
  },
  { format: 'uvfits', title: 'UVFITS', read: true, written: true },
  { format: 'uvh5', title: 'UVH5', read: true, written: true },
  { format: 'ms', title: 'Measurement Sets', read: true, written: true },
  {
    format: 'fitsidi',
    title: 'FITS-IDI',
    read: true,
    otherwise: 'LSL 4.0.1, casacore 3.5.0 (`src/acceptance/visibility-facts.ts`)',
  },
  {
    format: 'mwa',
    title: 'MWA MWAX and gpubox',
    read: true,
    otherwise: 'pyuvdata (`src/formats/visibilities/mwa/mwa-real.test.ts`)',
  },
  {
    format: 'skalow',
    title: 'SKA-Low station HDF5',
    read: true,
    otherwise: 'aavs_uv’s UVFITS of the same dump, and the sky',
  },
  { format: 'calh5', title: 'CalH5 (gains)', read: true, written: true },
  { format: 'calfits', title: 'CalFITS (gains)', read: true },
  { format: 'fits', title: 'FITS images', read: true, written: true },
  { format: 'psrfits', title: 'PSRFITS (beams)', read: true, written: true },
];

/** @typedef {{ format: string, direction: 'read' | 'written', peer: string, version: string, files?: number, numbers?: number }} Result */

/** @param {string} peer */
const nameOf = (peer) => (peer === 'wsclean' ? 'WSClean' : peer);

/**
 * @param {readonly Result[]} results
 * @param {string} format
 * @param {'read' | 'written'} direction
 */
function cell(results, format, direction) {
  const mine = results.filter((one) => one.format === format && one.direction === direction);
  const by = [...new Set(mine.map(({ peer }) => peer))].sort();
  return by
    .map((peer) => {
      const of = mine.filter((one) => one.peer === peer);
      const files = of.reduce((sum, one) => sum + (one.files ?? 0), 0);
      const numbers = of.reduce((sum, one) => sum + (one.numbers ?? 0), 0);
      const seen =
        numbers > 0
          ? ` (${files} file${files === 1 ? '' : 's'}, ${numbers.toLocaleString('en-US')} numbers)`
          : '';
      return `${nameOf(peer)} ${of[0].version}${seen}`;
    })
    .join(', ');
}

/** @param {readonly Result[]} results */
export function tableOf(results) {
  const lines = rows.map(({ format, title, read, written, otherwise }) => {
    const reading = [cell(results, format, 'read'), otherwise ?? ''].filter((one) => one !== '').join('; ');
    const cells = [title, read ? 'yes' : '', reading, written ? 'yes' : '', cell(results, format, 'written')];
    return `|${cells.map((one) => (one === '' ? ' |' : ` ${one} |`)).join('')}`;
  });
  return [
    '| format | read | and compared with | written | and read by |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

const [BEGIN, END] = ['<!-- made by npm run test:clients -->', '<!-- until here -->'];

/** @param {string} path @returns {Result[]} */
const resultsIn = (path) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      /** @type {unknown} */
      const result = JSON.parse(line);
      return /** @type {Result} */ (result);
    });

/** Position of the table in the page. @param {string} page @param {string} path */
function placeIn(page, path) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${path} has no place for the table`);
  return { from: from + BEGIN.length, to };
}

/**
 * What the page's table lacks: rows of formats, and peers that agreed in this run. Versions and counts depend on the
 * machine that wrote it, and are not compared.
 * @param {string} resultsPath
 * @param {string} pagePath
 */
export function missingFromTable(resultsPath, pagePath) {
  const page = readFileSync(pagePath, 'utf8');
  const { from, to } = placeIn(page, pagePath);
  const cells = new Map(
    page
      .slice(from, to)
      .split('\n')
      .map((line) => line.split('|').map((one) => one.trim()))
      .map(([, title, ...others]) => [title, others]),
  );
  const results = resultsIn(resultsPath);
  const lacking = rows.flatMap(({ format, title, read, written }) => {
    const [isRead, readBy = '', isWritten, writtenBy = ''] = cells.get(title) ?? [];
    const marks = isRead === (read ? 'yes' : '') && isWritten === (written ? 'yes' : '');
    if (!marks) return [`the row of ${title}`];
    return results
      .filter((one) => one.format === format)
      .filter(({ direction, peer }) => !(direction === 'read' ? readBy : writtenBy).includes(nameOf(peer)))
      .map(({ direction, peer }) => `${nameOf(peer)} in the row of ${title}, ${direction}`);
  });
  return [...new Set(lacking)];
}

/**
 * @param {string} resultsPath
 * @param {string} pagePath
 */
export function writeTable(resultsPath, pagePath) {
  const results = resultsIn(resultsPath);
  const lacking = ['baseband', 'pyuvdata', 'astropy', 'casacore', 'h5py', 'wsclean'].filter(
    (name) => !peers.has(name),
  );
  if (lacking.length > 0 || process.env.CORELLA_TEST_DATA === undefined) {
    const why = [...lacking, ...(process.env.CORELLA_TEST_DATA === undefined ? ['CORELLA_TEST_DATA'] : [])];
    console.log(`the table in docs/formats.md stays as it is: without ${why.join(', ')}`);
    return;
  }
  const page = readFileSync(pagePath, 'utf8');
  const { from, to } = placeIn(page, pagePath);
  const text = `${page.slice(0, from)}\n\n${tableOf(results)}\n\n${page.slice(to)}`;
  writeFileSync(pagePath, text);
  console.log('docs/formats.md has the table of this run');
}
