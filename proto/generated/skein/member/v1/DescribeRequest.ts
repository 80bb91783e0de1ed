// Original file: member.proto


export interface DescribeRequestInput {
}

export interface DescribeRequest {
}
