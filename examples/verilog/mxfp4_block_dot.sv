// The dot product of two blocks of MXFP4 as a binary32 word: 32 products, summed as integers, scaled and rounded once
// (ties to even, gradual underflow, overflow to infinity).
//
// A sum of products that is zero, or becomes zero, is +0, as an accumulator that starts with +0 has it.
module mxfp4_block_dot (
    input  logic [127:0] a_codes,  // 32 E2M1 codes, element 0 in bits 3:0
    input  logic [7:0]   a_scale,
    input  logic [127:0] b_codes,
    input  logic [7:0]   b_scale,
    output logic [31:0]  dot
);
  // Twice the magnitude of an E2M1 code.
  function automatic logic [7:0] halves(input logic [2:0] magnitude);
    case (magnitude)
      3'd0: halves = 8'd0;
      3'd1: halves = 8'd1;
      3'd2: halves = 8'd2;
      3'd3: halves = 8'd3;
      3'd4: halves = 8'd4;
      3'd5: halves = 8'd6;
      3'd6: halves = 8'd8;
      default: halves = 8'd12;
    endcase
  endfunction

  // Four times the dot product of the elements: at most 32 * 144 in magnitude.
  function automatic logic signed [13:0] sum_of_products(input logic [127:0] a, input logic [127:0] b);
    logic [7:0] product;
    sum_of_products = 14'sd0;
    for (int i = 0; i < 32; i = i + 1) begin
      product = halves(a[4*i+:3]) * halves(b[4*i+:3]);
      if (a[4*i+3] != b[4*i+3]) sum_of_products = sum_of_products - $signed({6'd0, product});
      else sum_of_products = sum_of_products + $signed({6'd0, product});
    end
  endfunction

  // The place of the leading one.
  function automatic logic [4:0] top_of(input logic [12:0] number);
    top_of = 5'd0;
    for (int i = 0; i < 13; i = i + 1) if (number[i]) top_of = 5'(i);
  endfunction

  logic signed [13:0] sum;
  logic        [12:0] magnitude;
  logic        [4:0]  top;
  logic        [23:0] significand;  // with the leading one in bit 23
  logic signed [10:0] exponent;     // biased as in binary32; below 1 the number is subnormal
  assign sum = sum_of_products(a_codes, b_codes);
  assign magnitude = 13'((sum < 14'sd0) ? -sum : sum);
  assign top = top_of(magnitude);
  assign significand = {11'd0, magnitude} << (5'd23 - top);
  assign exponent = $signed({6'd0, top}) + $signed({3'd0, a_scale}) + $signed({3'd0, b_scale}) - 11'sd129;

  // A subnormal number loses 1 - exponent bits; beyond 25 nothing of it is left.
  logic signed [10:0] shift;
  logic        [48:0] shifted;  // 24 bits that stay, 25 that are rounded away
  logic               round_up;
  logic        [23:0] rounded;
  assign shift = (exponent >= 11'sd1) ? 11'sd0 : (exponent < -11'sd24) ? 11'sd25 : 11'sd1 - exponent;
  assign shifted = {significand, 25'd0} >> shift;
`ifdef FAULT_TRUNCATED
  assign round_up = 1'b0;
`else
  assign round_up = shifted[24] && (shifted[23:0] != 24'd0 || shifted[25]);
`endif
  assign rounded = shifted[48:25] + {23'd0, round_up};

  // In the last line a carry into bit 23 makes the smallest normal number.
  assign dot = (a_scale == 8'd255 || b_scale == 8'd255) ? 32'h7FC00000
             : (magnitude == 13'd0)                     ? 32'd0
             : (exponent >= 11'sd255)                   ? {sum[13], 8'hFF, 23'd0}
             : (exponent >= 11'sd1)                     ? {sum[13], exponent[7:0], rounded[22:0]}
             : (rounded == 24'd0)                       ? 32'd0
             :                                            {sum[13], 7'd0, rounded};
endmodule
