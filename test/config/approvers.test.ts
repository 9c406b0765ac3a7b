/** Approvers that could not be told apart, or could not sign, are no configuration. */
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import { approver } from '../approval/support.ts';

const parse = (approvals: object) => () => parseConfig(JSON.stringify({ approvals }), 'c.jsonc').config.approvals;
const { publicKey } = approver('ada').listed;

const refused: [string, object, RegExp][] = [
  [
    'two of one name',
    { approvers: [{ name: 'ada' }, { name: 'ada' }] },
    /approvers\/1\/name: "ada" reads like the name of another approver/,
  ],
  [
    'two that differ by case, width or what can’t be seen',
    { approvers: [{ name: 'ada' }, { name: 'Ａda\u200b ' }] },
    /reads like the name of another/,
  ],
  [
    'two with one key',
    {
      approvers: [
        { name: 'ada', publicKey },
        { name: 'bob', publicKey },
      ],
    },
    /approvers\/1\/publicKey: another approver has this key/,
  ],
  ['a key that is none', { approvers: [{ name: 'ada', publicKey: 'ed25519:AAAA' }] }, /is no Ed25519 public key/],
  [
    'a weak key',
    { approvers: [{ name: 'ada', publicKey: `ed25519:${Buffer.alloc(32).toString('base64')}` }] },
    /is no Ed25519 public key/,
  ],
  [
    'two that are drawn alike in two scripts',
    { approvers: [{ name: 'coco' }, { name: 'сосо' }] },
    /approvers\/1\/name: "сосо" reads like the name of another approver/,
  ],
  ['two that differ by an African letter', { approvers: [{ name: 'ivo' }, { name: 'ɩʋo' }] }, /reads like the name/],
  ['letters of two scripts in one name', { approvers: [{ name: 'аda' }] }, /is not what it seems: letters of several/],
  ['letters that stand for plain ones', { approvers: [{ name: '𝐚da' }] }, /is not what it seems: letters that stand/],
  [
    'characters that are not seen',
    { approvers: [{ name: 'ada\u200b' }] },
    /is not what it seems: characters that are not/,
  ],
  ['a day that is none', { approvers: [{ name: 'ada', until: '2027-13-01' }] }, /"2027-13-01" is no date/],
  ['a day in another form', { approvers: [{ name: 'ada', until: 'tomorrow' }] }, /does not have the right form/],
  [
    'more to agree than there are',
    { approvers: [{ name: 'ada' }], required: 2 },
    /2 approvers have to agree, and there are only 1/,
  ],
  [
    'more to agree on some calls than there are',
    { approvers: [{ name: 'ada' }], requiredFor: { elevated: 3 } },
    /3 approvers have to agree/,
  ],
  ['nobody to agree', { required: 0 }, /approvals\/required/],
];
it.each(['ɡina', 'ɑda', 'ᴀᴅᴀ', 'ʟee', 'ꓐꓳꓐ', 'ᗪan', 'ꭺda', 'ꞗob'])('%s, which is drawn like another name', (name) =>
  expect(parse({ approvers: [{ name }] })).toThrow(/is not what it seems: letters of a script or notation/),
);
it.each(refused)('%s', (_, approvals, message) => expect(parse(approvals)).toThrow(message));

it.each([
  'Ада',
  'José',
  '田中',
  'دانا',
  'Ian',
  'анна-мария',
  'Əli',
  'Kɛmi',
  'Ŋoŋo',
  'Łukasz',
  'İpek',
  'Đức',
  'Αλέξης',
  '김민준',
  'አበበ',
])('%s is a name like any other', (name) => {
  expect(parse({ approvers: [{ name }, { name: 'coco' }] })()).toMatchObject({ approvers: [{ name }, {}] });
});

it('all of it is taken over', () => {
  const given = {
    name: 'ada',
    publicKey,
    roles: ['emergency'],
    may: ['elevated', 'agent:default'],
    until: '2027-01-31T12:00Z',
  };
  expect(parse({ approvers: [given], required: 1, requiredFor: { elevated: 1 } })()).toMatchObject({
    approvers: [given],
    required: 1,
    requiredFor: { elevated: 1 },
  });
});
