import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CorellaError } from '../../core/errors.js';
import { PartlyDone } from '../report/outcome.js';
import { reportCame } from './outcome.js';

const nothing = { integrations: 0, images: 0, pictures: 0, files: [], unwrittenIntegrations: 0 };
const files = { out: 'night.uvh5', picture: 'live.png' };
const pictures = { image: 1, picture: 'live.png' };

describe('how a night ended', () => {
  const printed: string[] = [];
  const end = (came: Partial<Parameters<typeof reportCame>[0]>, asked = files, stopped = false): void => {
    printed.length = 0;
    reportCame({ ...nothing, ...came }, asked, stopped, (line) => printed.push(line));
  };

  it('well, where what was asked for is there', () => {
    end({ integrations: 3, files: ['night.uvh5'] });
    end({ integrations: 3, images: 3, pictures: 1 }, pictures as never);
    // Writing was switched off on the page.
    end({ integrations: 3 });
    assert.deepEqual(printed, []);
  });

  it('not at all, where nothing came; who stopped it before that is named, and no more', () => {
    assert.throws(() => {
      end({});
    }, /no data arrived for an integration; nothing was written/);
    assert.throws(() => {
      end({}, pictures as never);
    }, /no data arrived for an image/);
    end({}, files, true);
    assert.match(printed.join(), /before it was stopped; nothing was written/);
  });

  it('not at all, or in part, where the disk was full', () => {
    assert.throws(() => {
      end({ integrations: 3, unwrittenIntegrations: 3 });
    }, CorellaError);
    const partly = { integrations: 3, files: ['night.uvh5'], unwrittenIntegrations: 1 };
    assert.throws(() => {
      end(partly);
    }, PartlyDone);
    assert.throws(() => {
      end(partly, files, true);
    }, PartlyDone);
  });

  it('in part, where no image could be drawn', () => {
    assert.throws(() => {
      end({ integrations: 3, images: 3 }, pictures as never);
    }, PartlyDone);
  });
});
