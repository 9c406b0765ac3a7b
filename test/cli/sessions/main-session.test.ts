import { describe, expect, it } from 'vitest';
import { folderSessionId } from '../../../src/cli/sessions/main-session.ts';
import { isSessionId } from '../../../src/protocol/ids.ts';

describe('the main session of a folder', () => {
  it('is named by the folder and a hash of its real path', () => {
    expect(folderSessionId('/home/ann/my-project')).toBe('my-project-b8eada3ed2ed');
    expect(folderSessionId('/srv/my-project')).toBe('my-project-62137bc36160');
  });

  it.each([
    '/',
    '/tmp/Ünïcode Ordner/été',
    '/tmp/日本語',
    '/tmp/..hidden',
    '/tmp/---',
    `/tmp/${'x'.repeat(255)}`,
    '/tmp/a/b\nc',
    '/tmp/call/x',
  ])('of %j has an id that is valid', (folder) => {
    expect(isSessionId(folderSessionId(folder))).toBe(true);
  });

  it('differs for folders whose names look alike', () => {
    const ids = ['/tmp/a b', '/tmp/a-b', '/tmp/a/b', '/tmp/A-b'].map(folderSessionId);
    expect(new Set(ids).size).toBe(4);
  });
});
