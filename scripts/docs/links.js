// Links of a page to other pages, headings and files of the repository.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * @param {string} file
 * @returns {string[]} what is wrong with its links.
 */
export function linkFaults(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, n) =>
      [...line.matchAll(/\]\(((?![a-z]+:)[^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([, path, heading]) => {
        const page = path === '' ? file : resolve(dirname(file), path);
        if (!existsSync(page)) return [`line ${n + 1}: ${path} is not there`];
        if (!heading || !page.endsWith('.md') || headings(page).has(heading)) return [];
        return [`line ${n + 1}: ${path} has no heading #${heading}`];
      }),
    );
}

/**
 * Headings of a page in the form used by links.
 * @param {string} page
 */
function headings(page) {
  const titles = [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
