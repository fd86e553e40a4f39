/** In place of the process that writes a set: ends as casacore does when it aborts, at the second call. */
import { mkdirSync } from 'node:fs';

const [growing] = process.argv.slice(2);
process.once('message', () => {
  mkdirSync(growing);
  process.send?.({});
  process.once('message', () => {
    process.stderr.write("terminate called after throwing 'AipsError'\n  what(): it is broken\n");
    process.kill(process.pid, 'SIGABRT');
  });
});
