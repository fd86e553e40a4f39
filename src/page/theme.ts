/** Dark or light: as the system has it unless someone chose. */

const KEY = 'corella-theme';
type Theme = 'dark' | 'light';

const system = (): Theme => (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark');
const chosen = (): Theme | undefined => {
  const kept = localStorage.getItem(KEY);
  return kept === 'dark' || kept === 'light' ? kept : undefined;
};

function applyTheme(): void {
  document.documentElement.dataset.theme = chosen() ?? system();
}
export function otherTheme(): void {
  localStorage.setItem(KEY, document.documentElement.dataset.theme === 'light' ? 'dark' : 'light');
  applyTheme();
}
applyTheme();
matchMedia('(prefers-color-scheme: light)').addEventListener('change', applyTheme);
