/** Keys, requests and decisions for tests of what approvers sign. */
import { generateKeyPairSync } from 'node:crypto';
import type { Approver } from '../../src/approval/approvers.ts';
import { publicKeyText } from '../../src/approval/public-key.ts';
import { type Signer, signDecision, signerOf } from '../../src/approval/sign.ts';
import type { RequestFacts, Subject } from '../../src/approval/verify.ts';
import type { Decision } from '../../src/protocol/approval.ts';

export const NOW = 1_700_000_000_000;
export const DIGEST = `sha256:${'a'.repeat(64)}`;

export interface TestApprover {
  signer: Signer;
  listed: Approver & { publicKey: string };
}

/** A fresh key, and how the configuration would name it. */
export function approver(name: string, listed: Partial<Approver> = {}): TestApprover {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { signer: signerOf(name, privateKey), listed: { name, ...listed, publicKey: publicKeyText(publicKey) } };
}

export const request = (over: Partial<RequestFacts> = {}): RequestFacts => ({
  session: 'main',
  callId: 'c1',
  tool: { name: 'shell', tier: 'system', effect: 'once', groups: ['group:runtime'], needs: [] },
  tier: 'elevated',
  agent: 'default',
  requestedAt: NOW - 60_000,
  expiresAt: NOW + 3_600_000,
  ...over,
});

export const subject = (over: Partial<RequestFacts> = {}): Subject => ({ digest: DIGEST, request: request(over) });

export const decision = (over: Partial<Decision> = {}): Decision => ({
  session: 'main',
  callId: 'c1',
  digest: DIGEST,
  decision: 'approve',
  approver: 'ada',
  ...over,
});

export const signed = ({ signer }: TestApprover, over: Partial<Decision> = {}, at = NOW): Promise<Decision> =>
  signDecision(decision(over), signer, at);
