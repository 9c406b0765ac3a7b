/** Checks of the approvers that a schema can't make. */
import { foldedName, nameProblem } from '../approval/approvers.ts';
import { parsePublicKey } from '../approval/public-key.ts';
import type { Problem } from './names.ts';
import type { ConfigFile } from './schema.ts';

type Given = NonNullable<ConfigFile['approvals']>;
type Approvers = NonNullable<Given['approvers']>;

/** Keys that are none, names and keys that two approvers share, and more approvers needed than there are. */
export function approverProblems({ approvers = [], required = 1, requiredFor = {} }: Given): Problem[] {
  const problems = approvers.flatMap((_, index) => problemsOf(approvers, index));
  const needed = Math.max(required, ...Object.values(requiredFor));
  if (approvers.length > 0 && approvers.length < needed) {
    const message = `${needed} approvers have to agree, and there are only ${approvers.length}`;
    problems.push({ path: ['approvals', 'approvers'], message });
  }
  return problems;
}

function problemsOf(approvers: Approvers, index: number): Problem[] {
  const { name = '', publicKey, until } = approvers[index] ?? {};
  const before = approvers.slice(0, index);
  const problem = (field: string, message: string): Problem[] => [
    { path: ['approvals', 'approvers', index, field], message },
  ];
  if (before.some((one) => foldedName(one.name) === foldedName(name))) {
    return problem('name', `${JSON.stringify(name)} reads like the name of another approver`);
  }
  const unplain = nameProblem(name);
  if (unplain !== undefined) return problem('name', `${JSON.stringify(name)} is not what it seems: ${unplain}`);
  if (until !== undefined && Number.isNaN(Date.parse(until)))
    return problem('until', `${JSON.stringify(until)} is no date`);
  if (publicKey === undefined) return [];
  if (parsePublicKey(publicKey) === undefined) {
    return problem('publicKey', 'this is no Ed25519 public key as countersign approver init prints it');
  }
  if (before.some((one) => one.publicKey === publicKey)) {
    return problem(
      'publicKey',
      'another approver has this key; each has one of their own, so that they can be counted',
    );
  }
  return [];
}
