"""What a pull-request analysis does after its pairs: asks further, explains, concludes."""
