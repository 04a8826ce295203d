// Checks the decoder and the dot product, with DPI-C and $readmemh: first against exported vectors, then against the
// reference itself, called block by block. docs/hardware.md shows how to build it.
//
//   +vectors=DIR   what `fp4proof export --format hex --words block` wrote
//
// Each mismatch is printed with its case; the last line counts what was compared.

package fp4proof_plain;
  import "DPI-C" function int fp4proof_profile(input string name);
  import "DPI-C" function string fp4proof_last_error();
  import "DPI-C" function int fp4proof_dequantize_block(input int profile, input byte unsigned codes[16],
      input byte unsigned scales[1], input int unsigned tensor_scale, output int unsigned values[32]);
  import "DPI-C" function int fp4proof_dot(input int profile_a, input byte unsigned a_codes[16],
      input byte unsigned a_scales[1], input int unsigned a_tensor_scale, input int profile_b,
      input byte unsigned b_codes[16], input byte unsigned b_scales[1], input int unsigned b_tensor_scale,
      input int blocks, input string accumulator, output int unsigned dot_word);

  localparam int unsigned ONE = 32'h3F800000;  // the tensor scale of a profile that has none

  function automatic void require(input int status);
    if (status < 0) $fatal(1, "the reference refuses: %s", fp4proof_last_error());
  endfunction
endpackage

module mxfp4_bench #(
    parameter int DECODE_CASES = 1,   // cases of dequantize 1x32, of gemm 7x7x32-seq512, of gemm 16x16x32-seq512,
    parameter int DOT_CASES = 1,      // as their sidecars say
    parameter int MORE_DOT_CASES = 1,
    parameter int RANDOM_DOTS = 20000
);
  import fp4proof_plain::*;

  logic [3:0]   code;
  logic [7:0]   scale;
  logic [31:0]  value;
  logic [127:0] a_codes;
  logic [127:0] b_codes;
  logic [7:0]   a_scale;
  logic [7:0]   b_scale;
  logic [31:0]  dot;
  mxfp4_unit unit (.*);

  string folder;
  int    compared;
  int    wrong;
  int    profile;

  // Every element of the exported blocks. One word holds a block, element 0 in its lowest bits.
  logic [63:0]   case_id[DECODE_CASES];
  logic [127:0]  codes  [DECODE_CASES];
  logic [7:0]    scales [DECODE_CASES];
  logic [1023:0] values [DECODE_CASES];
  task automatic check_exported_values();
    string stem;
    stem = {folder, "/dequantize.mxfp4.ocp/1x32"};
    $readmemh({stem, ".case_id.hex"}, case_id);
    $readmemh({stem, ".codes.hex"}, codes);
    $readmemh({stem, ".scales.hex"}, scales);
    $readmemh({stem, ".values.hex"}, values);
    for (int k = 0; k < DECODE_CASES; k++) begin
      for (int i = 0; i < 32; i++) begin
        code = codes[k][4*i+:4];
        scale = scales[k];
        #1;
        compared++;
        if (value !== values[k][32*i+:32]) begin
          wrong++;
          $display("MISMATCH case %016x, element %0d: code %0d under scale %0d gives %08x, must be %08x", case_id[k], i,
                   code, scale, value, values[k][32*i+:32]);
        end
      end
    end
  endtask

  // Every row of a with every row of b in exported products of one block; c[m][n] stands at (case * size + m) * size + n.
  localparam int MOST_CASES = (DOT_CASES > MORE_DOT_CASES) ? DOT_CASES : MORE_DOT_CASES;
  logic [63:0]  product_id[MOST_CASES];
  logic [127:0] as_codes  [MOST_CASES*16];
  logic [7:0]   as_scale  [MOST_CASES*16];
  logic [127:0] bs_codes  [MOST_CASES*16];
  logic [7:0]   bs_scale  [MOST_CASES*16];
  logic [31:0]  c         [MOST_CASES*256];
  task automatic check_exported_products(input string group, input int cases, input int size);
    string stem;
    stem = {folder, "/gemm.mxfp4.ocp/", group};
    $readmemh({stem, ".case_id.hex"}, product_id);
    $readmemh({stem, ".a_codes.hex"}, as_codes);
    $readmemh({stem, ".a_scales.hex"}, as_scale);
    $readmemh({stem, ".b_codes.hex"}, bs_codes);
    $readmemh({stem, ".b_scales.hex"}, bs_scale);
    $readmemh({stem, ".c.hex"}, c);
    for (int row = 0; row < cases * size; row++) begin
      for (int n = 0; n < size; n++) begin
        a_codes = as_codes[row];
        a_scale = as_scale[row];
        b_codes = bs_codes[row/size*size+n];
        b_scale = bs_scale[row/size*size+n];
        #1;
        compared++;
        if (dot !== c[row*size+n]) begin
          wrong++;
          $display("MISMATCH case %016x, c[%0d][%0d]: %08x, must be %08x", product_id[row/size], row % size, n, dot,
                   c[row*size+n]);
        end
      end
    end
  endtask

  byte unsigned a_bytes[16];
  byte unsigned b_bytes[16];
  byte unsigned a_byte [1];
  byte unsigned b_byte [1];
  int unsigned  block  [32];
  int unsigned  answer;

  // Every code under every scale.
  task automatic check_decoder();
    for (int i = 0; i < 16; i++) a_bytes[i] = 8'(17 * i);  // code i twice
    for (int s = 0; s < 256; s++) begin
      a_byte[0] = 8'(s);
      require(fp4proof_dequantize_block(profile, a_bytes, a_byte, ONE, block));
      for (int i = 0; i < 16; i++) begin
        code = 4'(i);
        scale = 8'(s);
        #1;
        compared++;
        if (value !== block[2*i]) begin
          wrong++;
          $display("MISMATCH code %0d under scale %0d: %08x, must be %08x", i, s, value, block[2*i]);
        end
      end
    end
  endtask

  // Random blocks. A product is a normal number for scales that sum to about 254; half of the pairs lie around the
  // smallest numbers, where products are rounded.
  task automatic check_random_products();
    int total;
    for (int k = 0; k < RANDOM_DOTS; k++) begin
      for (int i = 0; i < 16; i++) begin
        a_bytes[i] = 8'($urandom);
        b_bytes[i] = 8'($urandom);
        a_codes[8*i+:8] = a_bytes[i];
        b_codes[8*i+:8] = b_bytes[i];
      end
      a_scale = 8'($urandom);
      total = 96 + int'($urandom % 48);
      b_scale = (k % 2 == 0) ? 8'($urandom) : (total > int'(a_scale)) ? 8'(total - int'(a_scale)) : 8'd0;
      a_byte[0] = a_scale;
      b_byte[0] = b_scale;
      require(fp4proof_dot(profile, a_bytes, a_byte, ONE, profile, b_bytes, b_byte, ONE, 1, "seq", answer));
      #1;
      compared++;
      if (dot !== answer) begin
        wrong++;
        $display("MISMATCH random dot %0d, scales %0d and %0d, codes %032x and %032x: %08x, must be %08x", k, a_scale,
                 b_scale, a_codes, b_codes, dot, answer);
      end
    end
  endtask

  initial begin
    if ($value$plusargs("vectors=%s", folder) == 0) $fatal(1, "say where the vectors are: +vectors=DIR");
    compared = 0;
    wrong = 0;
    profile = fp4proof_profile("mxfp4/ocp");
    require(profile);
    check_exported_values();
    check_exported_products("7x7x32-seq512", DOT_CASES, 7);
    check_exported_products("16x16x32-seq512", MORE_DOT_CASES, 16);
    check_decoder();
    check_random_products();
    $display("%0d compared, %0d wrong", compared, wrong);
    if (wrong != 0) $fatal(1, "the design differs from the reference");
    $finish;
  end
endmodule
