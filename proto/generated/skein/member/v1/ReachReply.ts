// Original file: member.proto

import type { WayInput as _skein_member_v1_WayInput, Way as _skein_member_v1_Way } from '../../../skein/member/v1/Way.ts';

export interface ReachReplyInput {
  readonly ways?: readonly (_skein_member_v1_WayInput)[];
}

export interface ReachReply {
  readonly ways: readonly (_skein_member_v1_Way)[];
}
